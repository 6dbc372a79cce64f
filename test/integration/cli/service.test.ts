import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callHub, readHubInfo } from "../../../src/cli/local-api.ts";
import { type InstallPorts, installService, uninstallService } from "../../../src/cli/service/install.ts";
import { planService, type ServicePlan } from "../../../src/cli/service/plan.ts";
import { supervisorOf } from "../../../src/cli/service.ts";
import { type Paths, resolvePaths } from "../../../src/config/paths.ts";
import { isRunning } from "../../support/processes.ts";
import { until } from "../../support/until.ts";

interface Machine {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly paths: Paths;
  readonly plan: ServicePlan;
  readonly ports: InstallPorts;
  readonly said: string[];
  calls(): string[];
  flag(name: string): void;
}

const readPid = (file: string): number => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);

/** A user with an odd home, on a machine whose supervisor is ours. */
function makeMachine(on: "linux" | "darwin"): Machine {
  const root = mkdtempSync(join(tmpdir(), "acp-hub-service-"));
  const [bin, user, home, memory] = ["bin", "user", 'a "home" 100% $HOME', "memory"].map((name) =>
    join(root, name),
  ) as [string, string, string, string];
  for (const dir of [bin, user, home, memory]) mkdirSync(dir);
  for (const tool of ["systemctl", "launchctl", "loginctl"])
    symlinkSync(resolve("test/support/fake-supervisor.mjs"), join(bin, tool));
  const path = [bin, join(root, "node_modules/.bin"), "relative", process.env["PATH"] ?? ""].join(delimiter);
  const env = { PATH: path, HOME: user, FAKE_SUPERVISOR_DIR: memory };
  const paths = resolvePaths(home);
  const script = resolve("test/support/mini-hub.mjs");
  const plan = planService({ node: process.execPath, script, env, home, logDir: paths.logDir });
  const said: string[] = [];
  let now = 0;
  const isStarting = (): boolean => {
    const pid = readPid(join(memory, "pid"));
    return pid > 0 && isRunning(pid) && !existsSync(paths.hubInfo);
  };
  // Its own time, so that the whole wait takes a few looks; none of it passes while the process may still become ready.
  const sleep = async (ms: number): Promise<void> => {
    await until("the hub is ready or gone", () => !isStarting());
    now += 20 * ms;
  };
  const ports: InstallPorts = {
    supervisor: supervisorOf(on, env),
    readyPid: async () => {
      const ok = await callHub(paths, "GET", "/readyz").catch(() => undefined);
      return ok?.status === 200 ? (await readHubInfo(paths))?.pid : undefined;
    },
    stopHub: () => Promise.reject(new Error("no hub of our own runs")),
    say: (text) => said.push(text),
    clock: { now: () => now, sleep },
  };
  const calls = (): string[] => {
    const file = join(memory, "calls");
    const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    return lines.filter((line) => !/ (show|print) /.test(line));
  };
  return { root, env, paths, plan, ports, said, calls, flag: (name) => writeFileSync(join(memory, name), "") };
}

describe.each(["linux", "darwin"] as const)("service on %s", (on) => {
  let machine: Machine;
  beforeEach(() => {
    machine = makeMachine(on);
  });
  afterEach(async () => {
    await uninstallService(machine.ports);
    rmSync(machine.root, { recursive: true });
  });

  it("C1.service install writes the unit, starts it, and waits until the hub it started is ready", async () => {
    const { ports, plan, paths } = machine;
    expect(await installService(ports, plan)).toBe("installed");
    const { supervisor } = ports;
    expect(statSync(supervisor.file).mode & 0o777).toBe(0o644);
    const status = await supervisor.status();
    const info = await readHubInfo(paths);
    expect(status).toMatchObject({ isInstalled: true, isRunning: true, pid: info?.pid });
    expect(info).toMatchObject({ args: plan.args, path: plan.path });
    expect(plan.path.split(delimiter)).not.toContain("relative");
    expect(plan.path).not.toContain("node_modules");
    expect(machine.calls()).toEqual(
      on === "linux"
        ? ["daemon-reload", "enable acp-hub.service", "restart acp-hub.service"].map(
            (call) => `systemctl --user ${call}`,
          )
        : [
            `launchctl bootout gui/${process.getuid?.()}/com.acp-hub.hub`,
            `launchctl bootstrap gui/${process.getuid?.()} ${supervisor.file}`,
            `launchctl enable gui/${process.getuid?.()}/com.acp-hub.hub`,
          ],
    );
  });

  it("L6 its hub is one that was asked for: it never ends by itself", () => {
    expect(machine.plan.args[0]).toBe("serve");
    expect(machine.plan.args).not.toContain("--on-demand");
  });

  it("C1.service install again changes nothing; with another PATH it restarts", async () => {
    const { ports, plan } = machine;
    await installService(ports, plan);
    const before = machine.calls();
    expect(await installService(ports, plan)).toBe("unchanged");
    expect(machine.calls()).toEqual(before);
    expect(await installService(ports, { ...plan, path: "/usr/bin" })).toBe("updated");
    expect(await readHubInfo(machine.paths)).toMatchObject({ path: "/usr/bin" });
  });

  it("C1.service a hub that does not come up is taken back, with where its log is", async () => {
    const { ports, plan, paths } = machine;
    writeFileSync(join(paths.dataDir, "fail"), "");
    const failure = installService(ports, plan);
    await expect(failure).rejects.toThrow("did not become ready within 20 s");
    await expect(failure).rejects.toThrow("Nothing was left installed.");
    await expect(failure).rejects.toThrow(on === "linux" ? "journalctl --user -u acp-hub" : "service.log");
    expect(existsSync(ports.supervisor.file)).toBe(false);
    expect((await ports.supervisor.status()).isInstalled).toBe(false);
  });

  it("C1.service an update that does not come up brings the old service back", async () => {
    const { ports, plan, paths } = machine;
    await installService(ports, plan);
    const unit = readFileSync(ports.supervisor.file, "utf8");
    const broken = { ...plan, script: join(machine.root, "not-there.mjs") };
    await expect(installService(ports, broken)).rejects.toThrow("The service as it was before is back.");
    expect(readFileSync(ports.supervisor.file, "utf8")).toBe(unit);
    await expect.poll(() => readHubInfo(paths)).toMatchObject({ args: plan.args });
  });

  it("C1.service uninstall leaves no process, no unit and no empty directory", async () => {
    const { ports, plan, paths } = machine;
    await installService(ports, plan);
    const pid = (await readHubInfo(paths))?.pid ?? 0;
    expect(await uninstallService(ports)).toBe(true);
    expect(isRunning(pid)).toBe(false);
    const left = readdirSync(join(machine.root, "user"), { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile())).toEqual([]);
    // LaunchAgents is everybody's; systemd's directories are there for units alone.
    expect(left.map((entry) => entry.name)).toEqual(on === "linux" ? [".config"] : ["Library", "LaunchAgents"]);
    expect(await uninstallService(ports)).toBe(false);
  });

  it("C1.service a hub run by hand is ended first and said so", async () => {
    const { ports, plan } = machine;
    let isStopped = false;
    const occupied: InstallPorts = {
      ...ports,
      readyPid: () => (isStopped ? ports.readyPid() : Promise.resolve(1)),
      stopHub: async () => {
        isStopped = true;
      },
    };
    expect(await installService(occupied, plan)).toBe("installed");
    expect(isStopped).toBe(true);
    expect(machine.said.join()).toContain("A hub runs already (pid 1)");
  });
});

describe("the supervisor itself", () => {
  it("C1.service a user manager that does not answer is said with the way out", async () => {
    const machine = makeMachine("linux");
    machine.flag("no-bus");
    expect(await machine.ports.supervisor.unavailable()).toMatch(/No medium found.*enable-linger/s);
    rmSync(machine.root, { recursive: true });
  });

  it("C1.service no systemctl at all is said plainly", async () => {
    expect(await supervisorOf("linux", { PATH: "/nonexistent", HOME: "/nonexistent" }).unavailable()).toContain(
      "There is no systemctl here",
    );
  });

  it("C1.service whoever does not linger is told", async () => {
    const machine = makeMachine("linux");
    expect((await machine.ports.supervisor.advice()).join()).toContain("enable-linger");
    machine.flag("linger");
    expect(await machine.ports.supervisor.advice()).toEqual([]);
    rmSync(machine.root, { recursive: true });
  });

  it("C1.service launchd's refusal of a label still going away is waited out", async () => {
    const machine = makeMachine("darwin");
    machine.flag("busy");
    expect(await installService(machine.ports, machine.plan)).toBe("installed");
    expect(machine.calls().filter((call) => call.includes("bootstrap"))).toHaveLength(2);
    await uninstallService(machine.ports);
    rmSync(machine.root, { recursive: true });
  });
});
