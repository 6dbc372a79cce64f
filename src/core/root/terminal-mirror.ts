/**
 * What terminals print, for those who do not have them (S7): a terminalId means nothing to any client but its own, so the output
 * the root relays goes to the others as updates of the card that shows the terminal.
 */
import { paramsOf, type RpcRequest } from "../../protocol/envelope.ts";
import { arrayAt, isObject, type Json, type JsonObject, numberAt, stringAt } from "../../protocol/json.ts";
import type { Publisher } from "./publisher.ts";
import type { RootSession } from "./session.ts";

/** Terminals remembered: the oldest are forgotten first. */
const TERMINALS_MAX = 256;
/** How much of the last output is kept to find where a sliding window goes on. */
const OVERLAP_MAX = 4096;
/** Characters kept for a card that has not come yet: the end counts. */
const EARLY_MAX = 32_768;

interface Terminal {
  toolCallId: string | undefined;
  /** The end of what was seen. */
  seen: string;
  /** Characters seen while the output was whole. */
  length: number;
  hasExited: boolean;
  /** Its host tells what it prints as it comes: what the agent polls is known. */
  isPushed: boolean;
  /** What came before any card showed the terminal: commands print at once, and the card follows the terminal's id. */
  early: string;
  earlyExit: JsonObject | undefined;
  /** The client that has the terminal itself. */
  knows: string | undefined;
}

export class TerminalMirror {
  readonly #publisher: Publisher;
  readonly #terminals = new Map<string, Terminal>();

  constructor(publisher: Publisher) {
    this.#publisher = publisher;
  }

  /** A card that is out shows terminals in its content: output of theirs belongs to it, what came before it too. */
  onCard(session: RootSession, update: JsonObject, now: number): void {
    const toolCallId = stringAt(update, "toolCallId");
    if (toolCallId === undefined) return;
    for (const entry of arrayAt(update, "content") ?? []) {
      const id = isObject(entry) && entry["type"] === "terminal" ? stringAt(entry, "terminalId") : undefined;
      if (id === undefined) continue;
      const terminal = this.#of(session, id);
      terminal.toolCallId = toolCallId;
      const { early, earlyExit, knows } = terminal;
      terminal.early = "";
      terminal.earlyExit = undefined;
      this.output(session, id, early, now, knows);
      if (earlyExit !== undefined) this.exit(session, id, earlyExit, now, knows);
    }
  }

  /** Somebody's answer to a terminal request of the agent. `knows` is the client that has the terminal itself. */
  onAnswer(session: RootSession, asked: RpcRequest, result: Json, now: number, knows: string | undefined): void {
    const id = stringAt(paramsOf(asked), "terminalId");
    if (id === undefined || !isObject(result)) return;
    if (asked.method === "terminal/output") {
      if (!this.#of(session, id).isPushed) this.output(session, id, this.#news(session, id, result), now, knows);
      if (isObject(result["exitStatus"])) this.exit(session, id, result["exitStatus"], now, knows);
    } else if (asked.method === "terminal/wait_for_exit") this.exit(session, id, result, now, knows);
    else if (asked.method === "terminal/release") this.#terminals.delete(keyOf(session, id));
  }

  /** Output of a terminal the bridge runs, as it comes. */
  push(session: RootSession, terminalId: string, data: string, now: number): void {
    this.#of(session, terminalId).isPushed = true;
    this.output(session, terminalId, data, now);
  }

  /** New output of a terminal. Without a card that shows it there is no place to put it yet. */
  output(session: RootSession, terminalId: string, data: string, now: number, knows?: string): void {
    const terminal = this.#of(session, terminalId);
    const { toolCallId } = terminal;
    if (data === "") return;
    if (toolCallId === undefined) {
      terminal.early = (terminal.early + data).slice(-EARLY_MAX);
      terminal.knows = knows;
      return;
    }
    const _meta = { terminal_output: { terminal_id: terminalId, data } };
    this.#publisher.synthesised(session, { sessionUpdate: "tool_call_update", toolCallId, _meta }, now, knows);
  }

  /** The terminal's process has ended: `status` as ACP's exit status. Told once. */
  exit(session: RootSession, terminalId: string, status: JsonObject, now: number, knows?: string): void {
    const terminal = this.#of(session, terminalId);
    if (terminal.hasExited) return;
    if (terminal.toolCallId === undefined) {
      terminal.earlyExit = status;
      terminal.knows = knows;
      return;
    }
    terminal.hasExited = true;
    const exit = {
      terminal_id: terminalId,
      exit_code: numberAt(status, "exitCode") ?? null,
      signal: stringAt(status, "signal") ?? null,
    };
    const update = {
      sessionUpdate: "tool_call_update",
      toolCallId: terminal.toolCallId,
      _meta: { terminal_exit: exit },
    };
    this.#publisher.synthesised(session, update, now, knows);
  }

  /** What an output window shows beyond the last one: agents poll, and a window slides once it is full. */
  #news(session: RootSession, terminalId: string, result: JsonObject): string {
    const output = stringAt(result, "output") ?? "";
    const terminal = this.#of(session, terminalId);
    const { seen, length } = terminal;
    const isWhole = result["truncated"] !== true;
    const at = isWhole ? length : overlapEnd(seen, output);
    terminal.seen = output.slice(-OVERLAP_MAX);
    terminal.length = isWhole ? Math.max(length, output.length) : length;
    return output.slice(at);
  }

  #of(session: RootSession, terminalId: string): Terminal {
    const key = keyOf(session, terminalId);
    const known = this.#terminals.get(key) ?? {
      toolCallId: undefined,
      seen: "",
      length: 0,
      hasExited: false,
      isPushed: false,
      early: "",
      earlyExit: undefined,
      knows: undefined,
    };
    this.#terminals.set(key, known);
    if (this.#terminals.size > TERMINALS_MAX) {
      const [oldest] = this.#terminals.keys();
      if (oldest !== undefined && oldest !== key) this.#terminals.delete(oldest);
    }
    return known;
  }
}

const keyOf = (session: RootSession, terminalId: string): string => JSON.stringify([session.id, terminalId]);

/** Where in `output` the text ends that was seen before; 0 when nothing of it is left. */
function overlapEnd(seen: string, output: string): number {
  for (let length = Math.min(seen.length, output.length); length > 0; length -= 1) {
    const at = output.lastIndexOf(seen.slice(-length));
    if (at >= 0 && (length > 16 || at === 0)) return at + length;
  }
  return 0;
}
