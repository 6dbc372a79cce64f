import { chmodSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CHECKS } from "../../../src/cli/doctor/checks.ts";
import { diagnosticsRoutes } from "../../../src/cli/doctor/diagnostics-route.ts";
import type { Finding } from "../../../src/cli/doctor/finding.ts";
import { callHub } from "../../../src/cli/local-api.ts";
import type { DiscoveryState } from "../../../src/hub/discovery.ts";
import type { StoreHealth } from "../../../src/store/health.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { runCommand } from "../../support/run-command.ts";

const discovery: DiscoveryState = { kind: "advertised", name: "desk", addresses: ["192.0.2.1"], failures: [] };

describe("doctor with a hub", () => {
  let hub: HubHarness;
  const storage: StoreHealth = {
    fault: { code: "disk-full", since: Date.now() - 300_000 },
    waitingBytes: 70_000,
    lost: { events: 3, records: 0 },
  };
  beforeEach(async () => {
    hub = await startHub({
      isDurable: true,
      routes: (running) => [
        diagnosticsRoutes({
          paths: running.options.paths,
          env: process.env,
          discovery: () => discovery,
          storage: () => storage,
        }),
      ],
    });
  });
  afterEach(() => hub.stop());

  const home = (): string => hub.paths.dataDir;

  it("L2 C1.daemon a disk that takes nothing is told with its fix, by doctor and by status", async () => {
    const findings = JSON.parse((await runCommand("doctor", ["--json", "--home", home()])).stdout) as Finding[];
    expect(findings.filter(({ id }) => id === "storage")).toEqual([
      {
        id: "storage",
        level: "fail",
        text: "the history is not being written, first noticed 5m ago: the disk is full; 69 KiB of history wait in memory",
        fix: "free some space; what waits is written by itself",
      },
      {
        id: "storage",
        level: "warn",
        text: "lost while nothing could be written: 3 event(s) of the history",
        fix: expect.stringContaining("nothing brings it back"),
      },
    ]);
    const { stdout } = await runCommand("status", ["--home", home()]);
    expect(stdout).toContain("the history is not being written, first noticed 5m ago: the disk is full");
    expect(JSON.parse((await runCommand("status", ["--json", "--home", home()])).stdout)).toMatchObject({ storage });
  });

  it("C1.daemon every check says something, the announcement as the hub knows it", async () => {
    const { stdout } = await runCommand("doctor", ["--json", "--home", home()]);
    const findings = JSON.parse(stdout) as Finding[];
    expect([...new Set(findings.map(({ id }) => id))]).toEqual(CHECKS.map(({ id }) => id));
    expect(findings).toContainEqual({ id: "mdns", level: "ok", text: 'the hub is announced as "desk" on 192.0.2.1' });
    expect(findings.filter(({ level, fix }) => level !== "ok" && fix === undefined)).toEqual([]);
  });

  it("C1.exit-codes a failure ends the command with 1", async () => {
    chmodSync(hub.paths.runDir, 0o755);
    const { code, stdout } = await runCommand("doctor", ["--home", home()]);
    expect(stdout).toContain(`fail  permissions  ${hub.paths.runDir} is open to others (mode 0755)`);
    expect(code).toBe(1);
  });

  it("C2.scopes the hub's own findings are for admins, and can be asked for one by one", async () => {
    const get = (preset: string): Promise<Response> =>
      fetch(`${hub.url}/api/diagnostics?only=node,clock`, { headers: { authorization: `Bearer ${preset}:x` } });
    expect((await get("driver")).status).toBe(403);
    const answer = (await (await get("owner")).json()) as { findings: Finding[]; discovery: DiscoveryState };
    expect(answer.findings.map(({ id }) => id)).toEqual(["node", "clock"]);
    expect(answer.discovery).toEqual(discovery);
    const none = await callHub(hub.paths, "GET", "/api/diagnostics?only=none");
    expect(none.body).toEqual({ discovery, storage, findings: [] });
  });
});
