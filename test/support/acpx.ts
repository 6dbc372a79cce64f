/** `acpx`, a command-line client for ACP agents, as its user runs it: its agent is a session attached to. */
import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Frame, parseFrame } from "../../src/protocol/envelope.ts";
import { type JsonObject, objectAt, stringAt } from "../../src/protocol/json.ts";
import { type Finished, finished } from "./cli.ts";
import { processesOf, type Stage, until } from "./stage.ts";

/** Not exported by its package, which is a command. */
const ENTRY = join(dirname(createRequire(import.meta.url).resolve("acpx/package.json")), "dist/cli.js");
/** Between two commands it keeps the agent in a process of its own, for so many seconds. */
const KEEPS_SECONDS = "2";

export class Acpx {
  readonly #stage: Stage;
  readonly #cwd: string;
  readonly #agent: string;

  constructor(stage: Stage, sessionId: string) {
    this.#stage = stage;
    this.#cwd = join(stage.home.dir, "work");
    mkdirSync(this.#cwd, { recursive: true });
    this.#agent = stage.home.commandLine(["attach", "--session", sessionId]).join(" ");
  }

  /** Flags go before the command, as it wants them. */
  start(flags: readonly string[], command: readonly string[]): ChildProcess {
    const common = ["--cwd", this.#cwd, "--ttl", KEEPS_SECONDS, "--agent", this.#agent];
    const child = this.#stage.home.spawnCommand(process.execPath, [ENTRY, ...common, ...flags, ...command]);
    child.stdin?.end();
    return child;
  }

  run(flags: readonly string[], command: readonly string[]): Promise<Finished> {
    return finished(this.start(flags, command));
  }

  /** Resolves when it has let go of the agent. */
  async rest(): Promise<void> {
    const keeper = (): boolean =>
      processesOf(this.#stage.home.dir).some(({ command }) => command.includes("__queue-owner"));
    if (!(await until(() => !keeper(), 10_000))) throw new Error("acpx keeps its agent");
  }
}

/** What `--format json` prints: every message between it and its agent. */
export const framesOf = (stdout: string): Frame[] =>
  stdout.split("\n").flatMap((line) => {
    const parsed = line.startsWith("{") ? parseFrame(line) : undefined;
    return parsed?.ok === true ? [parsed.frame] : [];
  });

const promptAt = (frames: readonly Frame[]): number =>
  frames.findIndex((frame) => frame.kind === "request" && frame.msg.method === "session/prompt");

/** Text of one kind of chunk before the prompt: the replay. */
export const historyText = (frames: readonly Frame[], kind: string): string =>
  textOf(frames.slice(0, promptAt(frames)), kind);

/** The same from the prompt on. */
export const turnText = (frames: readonly Frame[], kind: string): string =>
  textOf(frames.slice(promptAt(frames)), kind);

const textOf = (frames: readonly Frame[], kind: string): string =>
  frames
    .flatMap((frame) => {
      if (frame.kind !== "notification" || frame.msg.method !== "session/update") return [];
      const update = objectAt(frame.msg.params as JsonObject, "update");
      return update?.["sessionUpdate"] === kind ? [stringAt(objectAt(update, "content"), "text") ?? ""] : [];
    })
    .join("");

/** How each prompt ended. */
export const stopReasons = (frames: readonly Frame[]): string[] =>
  frames.flatMap((frame) => {
    if (frame.kind !== "response" || !("result" in frame.msg)) return [];
    const reason = stringAt(frame.msg.result as JsonObject, "stopReason");
    return reason === undefined ? [] : [reason];
  });
