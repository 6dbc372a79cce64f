import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runCommand } from "../../support/run-command.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "acp-hub-config-"));
  writeFileSync(
    join(home, "config.json"),
    '{\n  "port": 9000, // mine\n  "agents": { "x": { "command": "a", "env": { "API_KEY": "sk-secret" } } }\n}\n',
  );
  vi.stubEnv("ACP_HUB_LOG_LEVEL", "debug");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

const config = (...args: string[]) => runCommand("config", [...args, "--home", home]);

describe("config", () => {
  it("C1.config path is the file, get a value alone on its line, explain where each came from", async () => {
    expect((await config("path")).stdout).toBe(`${join(home, "config.json")}\n`);
    expect((await config("get", "port")).stdout).toBe("9000\n");
    expect((await config("get", "log.level")).stdout).toBe("debug\n");
    expect((await config("get", "publicUrl")).stdout).toBe("");
    expect((await config("get", "log")).stdout).toBe('log.level = "debug"\n');
    const { stdout } = await config("explain");
    expect(stdout).toMatch(/^port +9000 {2}\(file: .*:2\)$/m);
    expect(stdout).toMatch(/^log\.level +"debug" {2}\(environment: ACP_HUB_LOG_LEVEL\)$/m);
    expect(stdout).toMatch(/^host +"127\.0\.0\.1" {2}\(default\)$/m);
    expect(stdout).not.toContain("sk-secret");
    expect(JSON.parse((await config("explain", "port", "--json")).stdout)).toMatchObject([
      { key: "port", value: 9000, source: "file" },
    ]);
  });

  it("C1.exit-codes an unknown key, a missing word and a broken file are usage errors", async () => {
    expect((await config("get", "prot")).code).toBe(2);
    expect((await config()).code).toBe(2);
    writeFileSync(join(home, "config.json"), '{ "port": "x" }');
    const { code, stderr } = await config("get", "port");
    expect([code, stderr.includes("port")]).toEqual([2, true]);
  });
});
