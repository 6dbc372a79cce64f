/** Two network namespaces on one Ethernet link, and Avahi on the second: a LAN with a stranger's mDNS on it. Needs root, `ip` and Avahi. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { until } from "./until.ts";

/** Undefined when namespaces and Avahi are there, else what is missing. */
export function missingForTwoMachines(): string | undefined {
  if (process.platform !== "linux") return "Linux";
  if (process.getuid?.() !== 0) return "root";
  const missing = ["ip", "unshare", "avahi-daemon", "avahi-browse", "avahi-publish", "dbus-daemon"].filter(
    (tool) => !isInstalled(tool),
  );
  if (missing.length > 0) return missing.join(", ");
  try {
    const probe = `acph-probe-${process.pid}`;
    execFileSync("ip", ["netns", "add", probe], { stdio: "pipe" });
    execFileSync("ip", ["netns", "del", probe], { stdio: "pipe" });
    return undefined;
  } catch {
    return "network namespaces";
  }
}

function isInstalled(tool: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${tool}`], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

/** A process whose lines a test waits for. */
export class LineProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: string[] = [];
  readonly ended: Promise<void>;
  #errors = "";

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.child = spawn(command, args, { env });
    createInterface(this.child.stdout).on("line", (line) => this.lines.push(line));
    this.child.stderr.on("data", (chunk: Buffer) => {
      this.#errors = `${this.#errors}${chunk.toString()}`.slice(-4000);
    });
    this.ended = new Promise((resolve) => this.child.once("close", () => resolve()));
  }

  get errors(): string {
    return this.#errors;
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.child.kill(signal);
    await this.ended;
  }
}

export class TwoMachines {
  readonly here = "192.0.2.1";
  readonly there = "192.0.2.2";
  readonly #names: readonly [string, string];
  readonly #interfaces: readonly [string, string];
  readonly #home = mkdtempSync(join(tmpdir(), "acp-hub-lan-"));
  readonly #processes: LineProcess[] = [];

  constructor() {
    const id = process.pid.toString(36);
    this.#names = [`acph-${id}-a`, `acph-${id}-b`];
    this.#interfaces = [`ah${id}a`, `ah${id}b`];
    const [a, b] = this.#names;
    const [ia, ib] = this.#interfaces;
    for (const name of this.#names) ip("netns", "add", name);
    ip("link", "add", ia, "netns", a, "type", "veth", "peer", "name", ib, "netns", b);
    for (const [name, link, address] of [
      [a, ia, this.here],
      [b, ib, this.there],
    ] as const) {
      ip("-n", name, "addr", "add", `${address}/24`, "dev", link);
      ip("-n", name, "link", "set", "lo", "up");
      ip("-n", name, "link", "set", link, "up");
    }
  }

  /** Adds or removes an address of the first machine. */
  address(verb: "add" | "del", address: string): void {
    ip("-n", this.#names[0], "addr", verb, `${address}/24`, "dev", this.#interfaces[0]);
  }

  runHere(command: string, args: readonly string[]): LineProcess {
    return this.#run(["netns", "exec", this.#names[0], command, ...args]);
  }

  runThere(command: string, args: readonly string[]): LineProcess {
    const env = { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${this.#home}/bus` };
    return this.#run(["netns", "exec", this.#names[1], command, ...args], env);
  }

  /** Avahi with a message bus of its own; resolves when it serves. */
  async startAvahi(): Promise<void> {
    const bus = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=${this.#home}/bus</listen><auth>EXTERNAL</auth><policy context="default">
<allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>`;
    writeFileSync(join(this.#home, "bus.conf"), bus);
    writeFileSync(join(this.#home, "avahi.conf"), "[server]\nhost-name=neighbour\nuse-ipv6=no\n");
    this.runThere("dbus-daemon", [`--config-file=${this.#home}/bus.conf`, "--nofork", "--nopidfile"]);
    // A mount namespace of its own, so that its pid file does not meet the machine's own Avahi.
    const script = `mkdir -p /run/avahi-daemon && mount -t tmpfs none /run/avahi-daemon && exec avahi-daemon --no-drop-root --no-chroot --no-rlimits -f "$1"`;
    await until("the message bus", () => isReachable(`${this.#home}/bus`));
    const avahi = this.runThere("unshare", ["-m", "sh", "-c", script, "avahi", join(this.#home, "avahi.conf")]);
    await until(
      () => `Avahi: ${avahi.errors}`,
      () => /Server startup complete/.test(avahi.errors),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.kill()));
    for (const name of this.#names) ip("netns", "del", name);
    rmSync(this.#home, { recursive: true, force: true });
  }

  #run(args: readonly string[], env?: NodeJS.ProcessEnv): LineProcess {
    const process = new LineProcess("ip", args, env);
    this.#processes.push(process);
    return process;
  }
}

function ip(...args: string[]): void {
  execFileSync("ip", args, { stdio: "pipe" });
}

function isReachable(socket: string): boolean {
  try {
    execFileSync("test", ["-S", socket]);
    return true;
  } catch {
    return false;
  }
}
