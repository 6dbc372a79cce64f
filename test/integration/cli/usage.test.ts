/** Wrong usage is said before anything is done, hub or no hub: exit 2 (contract §1). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { exitCodeOf } from "../../../src/cli/exit.ts";
import { callHubOk } from "../../../src/cli/local-api.ts";
import { ownerApi } from "../../../src/cli/owner-api.ts";
import { resolvePaths } from "../../../src/config/paths.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "acp-hub-usage-"));
  vi.stubEnv("ACP_HUB_HOME", home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

/** How a command line ends: the exit code and what is said. */
async function ends([name = "", ...args]: readonly string[]): Promise<readonly [number, string]> {
  const entry = COMMANDS.get(name);
  if (entry === undefined) throw new Error(`there is no ${name}`);
  try {
    return [await (await entry.load()).command.run(args), ""];
  } catch (error) {
    return [exitCodeOf(error), error instanceof Error ? error.message : String(error)];
  }
}

/** Each with as many words as it takes. `sessions` and `send` take any number of them. */
const FULL: readonly (readonly string[])[] = [
  ["bridge", "demo"],
  ["serve"],
  ["status"],
  ["ls"],
  ["watch", "s1"],
  ["attach"],
  ["interactions"],
  ["approve", "x"],
  ["deny", "x"],
  ["pair"],
  ["devices", "list"],
  ["devices", "rename", "d_1", "name"],
  ["devices", "revoke", "d_1"],
  ["token", "create", "--scope", "viewer", "--name", "n"],
  ["token", "list"],
  ["token", "revoke", "d_1"],
  ["audit", "tail"],
  ["audit", "export"],
  ["discover", "1"],
  ["service", "status"],
  ["setup", "other", "demo"],
  ["tunnel", "cloudflared"],
  ["doctor"],
  ["logs"],
  ["config", "path"],
  ["config", "get", "port"],
  ["config", "explain", "port"],
  ["completions", "bash"],
  ["stop"],
];

describe("contract 1 wrong usage", () => {
  it("every command but two that take any words is looked at", () => {
    const names = new Set(FULL.map(([name]) => name));
    expect([...COMMANDS.keys()].filter((name) => !names.has(name)).sort()).toEqual(["send", "sessions"]);
  });

  it.each(FULL.map((words) => [words.join(" "), words] as const))(
    "C1.exit-codes a word too many: %s extra",
    async (_line, words) => {
      const [code, said] = await ends([...words, "surplus"]);
      expect([code, said]).toEqual([2, expect.stringContaining("Usage: acp-hub ")]);
      expect(said).toMatch(/"surplus"|--/);
    },
  );

  it.each([
    [["pair", "--scope", "boss"], /--scope takes viewer, approver, driver, owner or names of scopes, not "boss"/],
    [["token", "create", "--name", "n", "--scope", "sessions:fly"], /--scope .* not "sessions:fly"/],
    [["tunnel", "cloudflared", "--scope", "boss"], /--scope .* not "boss"/],
    [["sessions", "--state", "asleep"], /--state takes live, idle, running, waiting or closed, not "asleep"/],
    [["pair", "--url", "hub.example"], /--url takes the address of a hub, .* not "hub.example"/],
    [["pair", "--ttl", "soon"], /--ttl takes a duration/],
    [["token", "create", "--scope", "viewer", "--name", "n", "--ttl", "x"], /--ttl takes a duration/],
    [["sessions", "--limit", "0"], /--limit takes a whole number/],
    [["audit", "--limit", "many"], /--limit takes a whole number/],
    [["logs", "-n", "-1"], /-n/],
    [["approve", "x", "--content", "{"], /--content takes a JSON object/],
    [["discover", "first"], /NUMBER takes a whole number/],
  ] as const)("C1.exit-codes a value that is none: %j", async (words, says) => {
    expect(await ends(words)).toEqual([2, expect.stringMatching(says)]);
  });
});

describe("contract 1 a value only the hub can judge", () => {
  let hub: SecureHub;
  beforeEach(async () => {
    hub = await startSecureHub();
  });
  afterEach(() => hub.stop());

  it("C1.exit-codes is misused when the hub calls the request bad, and failed when it refuses it", async () => {
    const codeOf = (work: Promise<unknown>): Promise<number> => work.then(() => 0, exitCodeOf);
    expect(await codeOf(callHubOk(hub.paths, "GET", "/api/sessions?state=asleep"))).toBe(2);
    expect(await codeOf(callHubOk(hub.paths, "DELETE", "/api/devices/nobody"))).toBe(1);
  });

  it("C1.exit-codes the same without a running hub", async () => {
    const api = await ownerApi(resolvePaths(home));
    try {
      const codes = [
        await api.call("POST", "/api/tokens", { scope: "boss" }).then(() => 0, exitCodeOf),
        await api.call("DELETE", "/api/devices/nobody").then(() => 0, exitCodeOf),
      ];
      expect(codes).toEqual([2, 1]);
    } finally {
      await api.close();
    }
  });
});

describe("contract 1 addresses in what is printed", () => {
  it.each([
    ["::1", /http:\/\/\[::1\]:1234\/base/],
    ["fd00::7", /http:\/\/\[fd00::7\]:1234\/base/],
    ["::", /http:\/\/127\.0\.0\.1:1234\/base/],
  ])("C1.address status says where a hub on %s is opened", async (host, says) => {
    const hub = await startSecureHub();
    vi.stubEnv("ACP_HUB_HOME", join(hub.home, "hub"));
    const info = JSON.parse(readFileSync(hub.paths.hubInfo, "utf8"));
    writeFileSync(hub.paths.hubInfo, JSON.stringify({ ...info, host, port: 1234, basePath: "/base" }));
    let printed = "";
    const stdout = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      printed += String(text);
      return true;
    });
    try {
      expect(await ends(["status"])).toEqual([0, ""]);
      expect(printed).toMatch(says);
      printed = "";
      await ends(["status", "--json"]);
      expect(JSON.parse(printed).url).toMatch(says);
    } finally {
      stdout.mockRestore();
      await hub.stop();
    }
  });
});
