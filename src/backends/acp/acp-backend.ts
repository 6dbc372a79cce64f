/** Any agent that speaks ACP on its stdio, as a child process. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { memoryPair } from "../../transport/memory.ts";
import { ndjsonTransport } from "../../transport/ndjson.ts";
import type { Transport } from "../../transport/transport.ts";
import type { Backend, BackendExit } from "../backend.ts";
import { agentEnv } from "./agent-env.ts";
import { groupGone, signalGroup } from "./process-group.ts";
import { StderrRelay } from "./stderr-relay.ts";

export interface AcpBackendOptions {
  /** An executable, looked up in PATH; no shell is involved. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Default: our own environment. Variables of the hub are taken out either way. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default: the command's base name. */
  readonly name?: string;
  /** Where the agent's stderr goes. Default: ours. */
  readonly stderr?: Writable;
  /** How long the agent may take to end after its input ended, after TERM, and after KILL. */
  readonly eofMs?: number;
  readonly termMs?: number;
  readonly killMs?: number;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const EOF_MS = 2000;
const TERM_MS = 2000;
const KILL_MS = 500;
/** After its exit, how long the agent's last words may be held back by somebody who inherited its pipes. */
const LAST_WORDS_MS = 500;

/** Starts nothing yet. See `Backend` for what its members do. */
export function acpBackend(options: AcpBackendOptions): Backend {
  return new AcpBackend(options);
}

class AcpBackend implements Backend {
  readonly name: string;
  readonly seesCapabilitiesLive = false;
  readonly exited: Promise<BackendExit>;
  readonly #options: AcpBackendOptions;
  readonly #stderr: StderrRelay;
  #resolveExited: (exit: BackendExit) => void = () => undefined;
  #transport: Transport | undefined;
  #child: Child | undefined;
  #ending: Promise<void> | undefined;

  constructor(options: AcpBackendOptions) {
    this.#options = options;
    this.name = options.name ?? options.command.slice(options.command.lastIndexOf("/") + 1);
    this.#stderr = new StderrRelay(options.stderr ?? process.stderr);
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
  }

  start(): Transport {
    this.#transport ??= this.#spawn();
    return this.#transport;
  }

  stop(): Promise<void> {
    if (this.#child?.pid === undefined) return Promise.resolve();
    this.#ending ??= this.#endPolitely(this.#child, this.#child.pid);
    return this.#ending;
  }

  #spawn(): Transport {
    const { command, args = [], cwd, env = process.env } = this.#options;
    try {
      // A group of its own: wrappers such as npx are not the agent, and killing them alone would leave it running (T3).
      const child = spawn(command, args, {
        ...(cwd === undefined ? {} : { cwd }),
        env: agentEnv(env),
        stdio: ["pipe", "pipe", "pipe"],
        detached: true,
        windowsHide: true,
      });
      this.#child = child;
      this.#watch(child);
      return ndjsonTransport(child.stdout, child.stdin);
    } catch (error) {
      // Arguments no process can be started with, such as a NUL in a path.
      return this.#neverStarted(error);
    }
  }

  #neverStarted(error: unknown): Transport {
    this.#exit(null, null, error instanceof Error ? error : new Error("the agent could not be started"));
    const [ours, theirs] = memoryPair();
    theirs.close();
    return ours;
  }

  #watch(child: Child): void {
    child.stderr.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
    child.stderr.on("error", () => undefined);
    child.on("error", (error) => {
      // Also emitted for a signal that could not be sent: then there is a pid, and the exit is still to come.
      if (child.pid === undefined) void this.#explain(error).then((explained) => this.#exit(null, null, explained));
    });
    child.once("exit", (code, signal) => this.#onExit(child, code, signal));
  }

  /** Node blames the command when the working directory is what does not exist. */
  async #explain(error: Error): Promise<Error> {
    const { cwd } = this.#options;
    if (cwd === undefined || (error as NodeJS.ErrnoException).code !== "ENOENT") return error;
    const { existsSync } = await import("node:fs");
    return existsSync(cwd) ? error : new Error("the agent's working directory does not exist", { cause: error });
  }

  #onExit(child: Child, code: number | null, signal: string | null): void {
    const timer = setTimeout(() => this.#exit(code, signal), LAST_WORDS_MS);
    child.once("close", () => {
      clearTimeout(timer);
      this.#exit(code, signal);
    });
    // What the agent left in its group has lost its owner.
    if (child.pid !== undefined) this.#ending ??= this.#endGroup(child.pid);
  }

  #exit(code: number | null, signal: string | null, error?: Error): void {
    this.#stderr.end();
    this.#resolveExited({ code, signal, stderrTail: this.#stderr.tail, ...(error === undefined ? {} : { error }) });
  }

  async #endPolitely(child: Child, pid: number): Promise<void> {
    this.#transport?.close();
    await leaderGone(child, this.#options.eofMs ?? EOF_MS);
    await this.#endGroup(pid);
    await leaderGone(child, this.#options.killMs ?? KILL_MS);
  }

  async #endGroup(pid: number): Promise<void> {
    if (!signalGroup(pid, "SIGTERM") || (await groupGone(pid, this.#options.termMs ?? TERM_MS))) return;
    signalGroup(pid, "SIGKILL");
    await groupGone(pid, this.#options.killMs ?? KILL_MS);
  }
}

/** Resolves when the child itself has ended, or after `limitMs`. */
function leaderGone(child: Child, limitMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
