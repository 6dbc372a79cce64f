/** The app-server's process: own group, guarded pipes, the tail of stderr, and an end that always comes. */
import { type ChildProcess, spawn } from "node:child_process";
import { PIPE_LINE_BYTES } from "../../../protocol/limits.ts";
import { LineSplitter } from "../../../transport/line-splitter.ts";
import type { Log } from "../log.ts";
import type { LaunchSpec } from "./launch.ts";
import { startWatchdog } from "./watchdog.ts";

export interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderrTail: string;
  readonly error?: Error;
}

export interface ChildHandlers {
  onLine(line: string): void;
  /** Exactly once, after the last line. */
  onExit(exit: ChildExit): void;
}

export interface ZcodeChild {
  /** Sends one line. Dropped once the process is gone. */
  write(line: string): void;
  /** EOF, then TERM, then KILL to the whole group. Resolves when the process is gone. */
  stop(): Promise<void>;
}

export type StartChild = (spec: LaunchSpec, handlers: ChildHandlers) => ZcodeChild;

const STDERR_TAIL_BYTES = 8_192;
const EOF_MS = 500;
const TERM_MS = 3_000;
/** One that ends closes its pipes first. How long its end is waited for. */
const CLOSED_PIPE_MS = 1_000;

class StderrTail {
  #text = "";

  push(chunk: Buffer): void {
    this.#text = (this.#text + chunk.toString("utf8")).slice(-STDERR_TAIL_BYTES);
  }

  get text(): string {
    return this.#text.trim();
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // The group is gone already, which is what was wanted.
  }
}

export interface ChildOptions {
  /** False is for tests that kill by hand. */
  readonly hasWatchdog?: boolean;
  /** A longer line is dropped. Default: what any agent's pipe takes. */
  readonly lineBytes?: number | undefined;
}

/** Starts children with the options every one of them gets. */
export function childStarter(
  log: Log,
  { hasWatchdog = true, lineBytes = PIPE_LINE_BYTES }: ChildOptions = {},
): StartChild {
  return (spec, handlers) => {
    const child = spawn(spec.command, [...spec.args], {
      env: { ...spec.env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
    });
    const stderr = new StderrTail();
    const lines = new LineSplitter(
      {
        onLine: (line) => handlers.onLine(line.toString("utf8")),
        onOversize: (bytes) => log("warn", "zcode line over the limit dropped", { bytes }),
      },
      lineBytes,
    );
    child.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    // A write to a process that just died fails on the stream, later: unhandled it would take the bridge down.
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.on("error", () => {});
    const gone = exitOf(child, stderr, handlers);
    endDeaf(child, gone, log);
    const stopWatchdog = hasWatchdog && child.pid !== undefined ? startWatchdog(child.pid) : () => {};
    void gone.then(stopWatchdog);
    return {
      write: (line) => void (child.stdin.writable && child.stdin.write(`${line}\n`)),
      stop: () => stopChild(child, gone),
    };
  };
}

function exitOf(child: ChildProcess, stderr: StderrTail, handlers: ChildHandlers): Promise<void> {
  return new Promise((resolve) => {
    let isOver = false;
    const end = (exit: ChildExit): void => {
      if (isOver) return;
      isOver = true;
      handlers.onExit(exit);
      resolve();
    };
    child.on("error", (error) => end({ code: null, signal: null, stderrTail: stderr.text, error }));
    child.on("close", (code, signal) => {
      // Grandchildren may hold on to the group after the server itself is gone.
      signalGroup(child, "SIGKILL");
      end({ code, signal, stderrTail: stderr.text });
    });
    // A grandchild that inherited stdout keeps "close" away; the exit alone is enough then.
    child.on("exit", (code, signal) => {
      setTimeout(() => {
        signalGroup(child, "SIGKILL");
        end({ code, signal, stderrTail: stderr.text });
      }, 200).unref();
    });
  });
}

/** One that closed a pipe and lives on hears nothing, or is not heard: every call to it would wait for its limit, for ever. */
function endDeaf(child: ChildProcess, gone: Promise<void>, log: Log): void {
  const onClosed = async (): Promise<void> => {
    if (await settlesWithin(gone, CLOSED_PIPE_MS)) return;
    log("warn", "zcode closed a pipe and lives on: it is ended");
    await stopChild(child, gone);
  };
  child.stdout?.once("end", () => void onClosed());
  child.stdin?.once("error", () => void onClosed());
}

async function stopChild(child: ChildProcess, gone: Promise<void>): Promise<void> {
  child.stdin?.end();
  if (await settlesWithin(gone, EOF_MS)) return;
  signalGroup(child, "SIGTERM");
  if (await settlesWithin(gone, TERM_MS)) return;
  signalGroup(child, "SIGKILL");
  await gone;
}

function settlesWithin(work: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    void work.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
