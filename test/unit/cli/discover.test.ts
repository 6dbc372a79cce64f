import { describe, expect, it, vi } from "vitest";
import { exitOf, hintOf, listOf, wordsOn } from "../../../src/cli/discover.ts";
import type { FoundHub } from "../../../src/hub/discovery.ts";
import { runCommand } from "../../support/run-command.ts";

const hub: FoundHub = {
  id: "a",
  name: "desk",
  version: "0.1.0",
  port: 8377,
  isTls: false,
  path: "",
  fingerprint: "SHA256:ab",
  host: "acp-hub-a.local",
  addresses: ["192.0.2.1"],
  urls: ["http://192.0.2.1:8377"],
  isAuthRequired: true,
};
const failures = [{ interface: "eth0", address: "192.0.2.2", code: "EADDRINUSE" }];

describe("discover", () => {
  it("C1.daemon hubs are numbered, and one that wants no credential is marked", () => {
    expect(listOf([hub, { ...hub, name: "x", isAuthRequired: false }])).toBe(
      " 1  desk  http://192.0.2.1:8377  0.1.0\n 2  x     http://192.0.2.1:8377  0.1.0  says it wants no credential: do not trust it\n",
    );
  });

  it("C1.daemon the hint names the key, how to pair, how to attach, and that plain HTTP is readable", () => {
    const hint = hintOf(hub);
    expect(hint).toContain("SHA256:ab");
    expect(hint).toContain("acp-hub pair --url http://192.0.2.1:8377");
    expect(hint).toContain("acp-hub attach --url http://192.0.2.1:8377 --token-file FILE");
    expect(hint).toContain("plain HTTP");
    expect(hintOf({ ...hub, isTls: true })).not.toContain("plain HTTP");
  });

  it("C1.daemon as data, too, it says who could not be asked, in words on stderr", async () => {
    vi.doMock("../../../src/hub/discovery.ts", () => ({
      findHubs: () => Promise.resolve({ hubs: [], failures, hasNetwork: true }),
    }));
    try {
      const { code, stdout, stderr } = await runCommand("discover", ["--json", "--seconds", "1"]);
      expect([code, JSON.parse(stdout)]).toEqual([1, []]);
      expect(stderr).toContain("eth0 (192.0.2.2) could not be asked: EADDRINUSE");
    } finally {
      vi.doUnmock("../../../src/hub/discovery.ts");
    }
  });

  it("C1.exit-codes nobody answering is no failure, not being able to ask is", () => {
    expect(exitOf({ hubs: [], failures: [], hasNetwork: true })).toBe(0);
    expect(exitOf({ hubs: [], failures, hasNetwork: true })).toBe(1);
    expect(exitOf({ hubs: [], failures: [], hasNetwork: false })).toBe(1);
    expect(exitOf({ hubs: [hub], failures, hasNetwork: true })).toBe(0);
    expect(wordsOn({ hubs: [], failures, hasNetwork: true })).toContain(
      "eth0 (192.0.2.2) could not be asked: EADDRINUSE",
    );
  });
});
