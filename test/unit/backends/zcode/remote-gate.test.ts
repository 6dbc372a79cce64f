/** The remote variables of the seeds, read without side effects. */
import { expect, test } from "vitest";
import { zcodeRemoteGate } from "../../../../src/backends/zcode/remote-gate.ts";

const STRONG = "9f86d081884c7d659a2feaa0c55ad015";

test.each([undefined, "", "0", "off", "no", "false", "maybe"])("off (%s) is a plain stdio bridge", (value) => {
  expect(zcodeRemoteGate({ ZCODE_ACP_REMOTE: value, ZCODE_ACP_REMOTE_TOKEN: STRONG })).toEqual({ share: false });
});

test.each(["1", "true", "YES", " on "])("on (%s) shares, with the token and the hub's place", (value) => {
  const env = {
    ZCODE_ACP_REMOTE: value,
    ZCODE_ACP_REMOTE_TOKEN: STRONG,
    ZCODE_ACP_HUB_HOST: "127.0.0.1",
    ZCODE_ACP_HUB_PORT: "9000",
  };
  expect(zcodeRemoteGate(env)).toEqual({ share: true, token: STRONG, host: "127.0.0.1", port: 9000 });
});

test.each([
  "secret",
  "password12345678",
  "a".repeat(200),
  "abababababababababababababababababab",
  "1234567890123456789012345678",
  "abcdefghijklmnopqrstuvwxyz0123456789",
  "correct horse battery staple and a few words more",
])("a token that is easy to guess (%s) is refused with words, not used", (token) => {
  const gate = zcodeRemoteGate({ ZCODE_ACP_REMOTE: "1", ZCODE_ACP_REMOTE_TOKEN: token });
  expect(gate.share).toBe(false);
  expect(gate.token).toBeUndefined();
  expect(gate.problem).toMatch(/128 bits/);
  expect(gate.problem).not.toContain(token);
});

test.each(["0", "65536", "x", "1.5"])("a port that is none (%s) is told and left out", (port) => {
  const gate = zcodeRemoteGate({ ZCODE_ACP_REMOTE: "1", ZCODE_ACP_HUB_PORT: port });
  expect(gate).toMatchObject({ share: true });
  expect(gate.port).toBeUndefined();
  expect(gate.problem).toMatch(/ZCODE_ACP_HUB_PORT/);
});

test("without a token devices pair, so the bridge shares all the same", () => {
  expect(zcodeRemoteGate({ ZCODE_ACP_REMOTE: "1" })).toEqual({ share: true });
});
