/**
 * One command an agent runs through its client (S7): a child in a process group of its own, its output kept within a bound.
 *
 * Te1 `exited` resolves exactly once, whether it ran, could not be started, or was killed.
 * Te2 After `end` nothing of its group is left, in bounded time.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { groupGone, signalGroup } from "../../backends/acp/process-group.ts";
import type { Program } from "./command.ts";
import { OutputRing } from "./output-ring.ts";

export interface TerminalOptions {
  readonly program: Program;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly maxBytes: number;
  onOutput(text: string): void;
}

/** As ACP has it: one of both is null. */
export interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

const TERM_MS = 2000;
const KILL_MS = 500;
/** How long output may still come from who inherited the pipes of a command that has ended. */
const LAST_WORDS_MS = 500;

export class Terminal {
  readonly exited: Promise<ExitStatus>;
  readonly #output: OutputRing;
  readonly #pid: number | undefined;
  #status: ExitStatus | undefined;
  #resolve: (status: ExitStatus) => void = () => undefined;
  #ending: Promise<void> | undefined;
  #isEnded = false;
  /** The group is known to be empty: its number may be somebody else's by now. */
  #isGroupGone = false;

  /** Throws what the system says when the command cannot even be tried; one that does not exist is an exit status. */
  constructor(options: TerminalOptions) {
    this.#output = new OutputRing(options.maxBytes);
    this.exited = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { program, cwd, env } = options;
    const child = spawn(program.file, [...program.args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      windowsHide: true,
    });
    this.#pid = child.pid;
    for (const stream of [child.stdout, child.stderr]) this.#read(stream, options.onOutput);
    this.#watch(child, options);
  }

  get output(): string {
    return this.#output.text;
  }

  get isTruncated(): boolean {
    return this.#output.isTruncated;
  }

  /** Undefined while it runs. */
  get status(): ExitStatus | undefined {
    return this.#status;
  }

  /** Asks the whole group to end, then makes it. What it printed stays. Resolves when it has; safe to call twice. */
  kill(): Promise<void> {
    this.#ending ??= this.#endGroup();
    return this.#ending;
  }

  /** Killed, and nothing more is told of it. */
  end(): Promise<void> {
    this.#isEnded = true;
    return this.kill();
  }

  #read(stream: Readable, onOutput: (text: string) => void): void {
    const decoder = new StringDecoder("utf8");
    const take = (text: string): void => {
      if (text === "" || this.#isEnded) return;
      this.#output.push(text);
      onOutput(text);
    };
    stream.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
    stream.on("end", () => take(decoder.end()));
    stream.on("error", () => undefined);
  }

  #watch(child: ChildProcessByStdio<null, Readable, Readable>, options: TerminalOptions): void {
    child.on("error", (error) => {
      if (child.pid !== undefined) return;
      const text = `${options.program.file}: ${error.message}\n`;
      this.#output.push(text);
      options.onOutput(text);
      // As a shell says it of a command it cannot find.
      this.#exit({ exitCode: 127, signal: null });
    });
    child.once("exit", (exitCode, signal) => {
      this.#isGroupGone = child.pid === undefined || !signalGroup(child.pid, 0);
      const timer = setTimeout(() => this.#exit({ exitCode, signal }), LAST_WORDS_MS);
      child.once("close", () => {
        clearTimeout(timer);
        this.#exit({ exitCode, signal });
      });
    });
  }

  #exit(status: ExitStatus): void {
    if (this.#status !== undefined) return;
    this.#status = status;
    this.#resolve(status);
  }

  async #endGroup(): Promise<void> {
    if (this.#pid === undefined || this.#isGroupGone) return;
    if (!signalGroup(this.#pid, "SIGTERM") || (await groupGone(this.#pid, TERM_MS))) return;
    signalGroup(this.#pid, "SIGKILL");
    await groupGone(this.#pid, KILL_MS);
  }
}
