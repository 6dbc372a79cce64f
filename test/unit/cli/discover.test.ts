import { describe, expect, it, vi } from "vitest";
import { exitOf, hintOf, listOf, wordsOn } from "../../../src/cli/discover.ts";
import type { BrowseResult, FoundHub } from "../../../src/hub/discovery.ts";
import { type Ran, runCommand } from "../../support/run-command.ts";

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

  async function discover(result: BrowseResult, args: readonly string[]): Promise<Ran> {
    vi.doMock("../../../src/hub/discovery.ts", () => ({ findHubs: () => Promise.resolve(result) }));
    try {
      return await runCommand("discover", [...args, "--seconds", "1"]);
    } finally {
      vi.doUnmock("../../../src/hub/discovery.ts");
    }
  }

  it("C1.daemon as data, too, it says who could not be asked, in words on stderr", async () => {
    const { code, stdout, stderr } = await discover({ hubs: [], failures, hasNetwork: true }, ["--json"]);
    expect([code, JSON.parse(stdout)]).toEqual([1, []]);
    expect(stderr).toContain("eth0 (192.0.2.2) could not be asked: EADDRINUSE");
  });

  it("C1.exit-codes a number nobody has is a failure, never a wrong command line, and the words say whether anybody was asked", async () => {
    expect(await discover({ hubs: [], failures: [], hasNetwork: false }, ["1"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "This computer is on no network: there is nobody to ask\n",
    });
    const silent = await discover({ hubs: [], failures: [], hasNetwork: true }, ["1"]);
    expect([silent.code, silent.stderr]).toEqual([1, expect.stringMatching(/^No hub answered\. /)]);
    const other = await discover({ hubs: [hub], failures: [], hasNetwork: true }, ["2"]);
    expect([other.code, other.stdout]).toEqual([1, ""]);
    expect(other.stderr).toMatch(/^There is no hub number 2 now:\n {0,2}1 {2}desk /);
    const found = await discover({ hubs: [hub], failures: [], hasNetwork: true }, ["1"]);
    expect([found.code, found.stdout]).toEqual([0, hintOf(hub)]);
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
