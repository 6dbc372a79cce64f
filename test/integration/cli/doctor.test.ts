import { chmodSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CHECKS } from "../../../src/cli/doctor/checks.ts";
import { diagnosticsRoutes } from "../../../src/cli/doctor/diagnostics-route.ts";
import type { Finding } from "../../../src/cli/doctor/finding.ts";
import { callHub } from "../../../src/cli/local-api.ts";
import type { DiscoveryState } from "../../../src/hub/discovery.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { runCommand } from "../../support/run-command.ts";

const discovery: DiscoveryState = { kind: "advertised", name: "desk", addresses: ["192.0.2.1"], failures: [] };

describe("doctor with a hub", () => {
  let hub: HubHarness;
  beforeEach(async () => {
    hub = await startHub({
      isDurable: true,
      routes: (running) => [
        diagnosticsRoutes({ paths: running.options.paths, env: process.env, discovery: () => discovery }),
      ],
    });
  });
  afterEach(() => hub.stop());

  const home = (): string => hub.paths.dataDir;

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
    expect(none.body).toEqual({ discovery, findings: [] });
  });
});
