import { describe, expect, test } from "vitest";
import { entropyBits } from "../../../src/protocol/secret-entropy.ts";
import { countedRandom } from "../../support/auth-fixture.ts";

const random = countedRandom();
const randomBytes = (count: number): Buffer => Buffer.from(random(count));

describe("entropy of a given token", () => {
  test("C1.zcode-env what a good generator makes is never refused", () => {
    const encodings = ["hex", "base64", "base64url"] as const;
    for (let round = 0; round < 2_000; round++) {
      for (const encoding of encodings) {
        const secret = randomBytes(encoding === "hex" ? 16 : 24).toString(encoding);
        expect(entropyBits(secret), secret).toBeGreaterThanOrEqual(128);
      }
    }
    expect(entropyBits(randomBytes(32).toString("hex").toUpperCase())).toBeGreaterThanOrEqual(128);
    expect(entropyBits("1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed")).toBeGreaterThanOrEqual(128);
    expect(entropyBits(randomBytes(4_000).toString("base64"))).toBeGreaterThanOrEqual(128);
  });

  test("C1.zcode-env, incident 3: what a person makes up is refused, and an empty secret above all", () => {
    const weak = [
      "",
      "secret",
      "hunter2hunter2hunter2hunter2hunter2",
      "a".repeat(200),
      "0123456789".repeat(20),
      "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
      "correct horse battery staple",
      "MySuperSecretRemoteTokenForTheHub",
      "deadbeefdeadbeefdeadbeefdeadbeef",
      "1234567890123456789012345678",
      "my-secret-token-for-the-hub-1234",
      "请给我一个很长的密码请给我一个很长的密码",
      "changeme-changeme-changeme-changeme-changeme",
      randomBytes(12).toString("hex"),
    ];
    for (const secret of weak) expect(entropyBits(secret), secret).toBeLessThan(128);
  });
});
