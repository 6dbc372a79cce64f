/** The terminals of all sessions this bridge serves (S7): `terminal/*` as ACP has it, each freed with its session at the latest. */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { agentEnv } from "../../backends/acp/agent-env.ts";
import type { HostSession } from "../../core/root/ports.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { arrayAt, isObject, type JsonObject, numberAt, stringAt } from "../../protocol/json.ts";
import { programOf } from "./command.ts";
import { HostError } from "./host-error.ts";
import { OutputFeed } from "./output-feed.ts";
import { type ExitStatus, Terminal } from "./terminal.ts";

const OUTPUT_DEFAULT_BYTES = 1_048_576;
const OUTPUT_MAX_BYTES = 16_777_216;
/** Of one session. Ended ones nobody released are let go first: agents forget. */
const TERMINALS_MAX = 64;

interface Held {
  readonly session: SessionId;
  readonly terminal: Terminal;
  readonly feed: OutputFeed;
}

export type OutputListener = (session: SessionId, terminalId: string, text: string) => void;

export class Terminals {
  readonly #held = new Map<string, Held>();
  /** Freed ones whose processes are still on their way out. */
  readonly #ending = new Set<Promise<void>>();
  readonly #onOutput: OutputListener;

  constructor(onOutput: OutputListener) {
    this.#onOutput = onOutput;
  }

  /** → {terminalId}. */
  create(params: JsonObject, session: HostSession): JsonObject {
    const command = stringAt(params, "command");
    if (command === undefined || command === "") throw new HostError("params", '"command" must be a string');
    this.#makeRoom(session.id);
    const id = `term_${randomUUID()}`;
    const feed = new OutputFeed((text) => this.#onOutput(session.id, id, text));
    const args = (arrayAt(params, "args") ?? []).map(String);
    const limit = numberAt(params, "outputByteLimit") ?? OUTPUT_DEFAULT_BYTES;
    const terminal = new Terminal({
      program: programOf(command, args),
      cwd: directoryOf(stringAt(params, "cwd") ?? session.cwd),
      env: { ...agentEnv(process.env), ...envOf(params) },
      maxBytes: Math.max(0, Math.min(limit, OUTPUT_MAX_BYTES)),
      onOutput: (text) => feed.push(text),
    });
    this.#held.set(id, { session: session.id, terminal, feed });
    return { terminalId: id };
  }

  /** → {output, truncated, exitStatus?}. */
  output(params: JsonObject, session: HostSession): JsonObject {
    const { terminal, feed } = this.#find(params, session);
    feed.flush();
    const { status } = terminal;
    const output = terminal.output;
    return { output, truncated: terminal.isTruncated, ...(status !== undefined && { exitStatus: { ...status } }) };
  }

  /** The status comes when the command has ended, behind all it printed. */
  async waitForExit(params: JsonObject, session: HostSession): Promise<ExitStatus> {
    const { terminal, feed } = this.#find(params, session);
    const status = await terminal.exited;
    feed.flush();
    return status;
  }

  kill(params: JsonObject, session: HostSession): JsonObject {
    void this.#find(params, session).terminal.kill();
    return {};
  }

  release(params: JsonObject, session: HostSession): JsonObject {
    const held = this.#find(params, session);
    void this.#free(stringAt(params, "terminalId") ?? "", held);
    return {};
  }

  /** The session is over. */
  async releaseAll(session: SessionId): Promise<void> {
    const own = [...this.#held].filter(([, held]) => held.session === session);
    await Promise.all(own.map(([id, held]) => this.#free(id, held)));
  }

  /** The bridge ends: nothing it started outlives it. */
  async stop(): Promise<void> {
    for (const [id, held] of this.#held) void this.#free(id, held);
    await Promise.all(this.#ending);
  }

  #find(params: JsonObject, session: HostSession): Held {
    const held = this.#held.get(stringAt(params, "terminalId") ?? "");
    if (held === undefined || held.session !== session.id) throw new HostError("unknown", "There is no such terminal");
    return held;
  }

  #free(id: string, held: Held): Promise<void> {
    this.#held.delete(id);
    held.feed.flush();
    held.feed.close();
    const ended = held.terminal.end();
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
    return ended;
  }

  #makeRoom(session: SessionId): void {
    const own = [...this.#held].filter(([, held]) => held.session === session);
    if (own.length < TERMINALS_MAX) return;
    const ended = own.find(([, held]) => held.terminal.status !== undefined);
    if (ended === undefined) throw new HostError("failed", `A session runs at most ${TERMINALS_MAX} terminals`);
    void this.#free(...ended);
  }
}

/** The system blames the command when the directory is what does not exist. */
function directoryOf(cwd: string): string {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true) return cwd;
  throw new HostError("params", '"cwd" must be a directory that exists');
}

function envOf(params: JsonObject): NodeJS.ProcessEnv {
  const pairs = (arrayAt(params, "env") ?? []).filter(isObject).flatMap((entry): [string, string][] => {
    const name = stringAt(entry, "name");
    const value = stringAt(entry, "value");
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(pairs);
}
