/** systemd's own judgement on the unit we write. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { planService } from "../../../src/cli/service/plan.ts";
import { renderUnit } from "../../../src/cli/service/systemd-unit.ts";

/** Linux distributions without systemd have no judge. */
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe.runIf(hasSystemd)("the unit as systemd reads it", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-unit-"));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  /** What it says; empty when it finds nothing. */
  function verify(name: string, text: string): Promise<string> {
    const file = join(dir, name);
    writeFileSync(file, text);
    const env = { ...process.env, HOME: dir, XDG_RUNTIME_DIR: dir };
    const args = ["--user", "--man=no", "--generators=no", "verify", file];
    // Its exit code counts other units of the machine too: what is said of this one is what counts.
    return new Promise((resolve) => {
      execFile("systemd-analyze", args, { env }, (_error, out, words) =>
        resolve(
          `${out}${words}`
            .split("\n")
            .filter((line) => line.includes(name))
            .join("\n"),
        ),
      );
    });
  }

  it("C1.service finds nothing wrong with ours, whatever stands in the paths, and finds what is wrong", async () => {
    const script = join(dir, 'it\'s 100% "odd" $HOME/main.js');
    const env = { PATH: "/opt/a b:/usr/bin" };
    const plan = planService({ node: process.execPath, script, env, home: join(dir, "home %h"), logDir: dir });
    const unit = renderUnit(readFileSync("deploy/acp-hub.service", "utf8"), plan);
    expect(await verify("acp-hub.service", unit)).toBe("");
    expect(await verify("acp-hub.service", unit.replace("KillMode=process", "KillMode=proces"))).toContain("kill mode");
    expect(
      await verify("acp-hub.service", unit.replace("RestartForceExitStatus=75", "RestartForceExitStatus=x75")),
    ).toContain("x75");
    expect(await verify("acp-hub.service", unit.replace(process.execPath, "/nonexistent/node"))).toContain(
      "not executable",
    );
  });

  it("C1.service finds nothing wrong with the tunnel's unit", async () => {
    const text = readFileSync("deploy/ssh-tunnel.service", "utf8").replace(/^ExecStart=\S+/m, "ExecStart=/bin/true");
    expect(await verify("ssh-tunnel.service", text)).toBe("");
  });
});
