/** A session of the fake hub: the core's own journal behind it, and the steps a test takes in it. */
import { itemText } from "../../src/core/journal/frames.ts";
import { Journal } from "../../src/core/journal/journal.ts";
import type { LastLine } from "../../src/core/journal/last-line.ts";
import type { QueueEntry, TurnState } from "../../src/protocol/hub-methods.ts";
import { epoch } from "../../src/protocol/ids.ts";
import type { Json, JsonObject } from "../../src/protocol/json.ts";
import type { By } from "../../src/protocol/meta.ts";
import type { FakeConnection } from "./fake-hub-connection.ts";

export interface FakeAsk {
  readonly interactionId: string;
  readonly sessionId: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly openedAt: number;
  /** Request ids per connection that holds a copy. */
  readonly copies: Map<FakeConnection, number>;
  readonly answered: (result: Json, by: By) => void;
}

export interface FakePrompt {
  readonly promptId: string | undefined;
  readonly by: By;
  readonly blocks: readonly JsonObject[];
  readonly queuedAt: number;
  readonly connection: FakeConnection;
  readonly reply: (body: JsonObject) => void;
}

export const DESKTOP: By = { connectionId: "desktop", device: "desk", name: "Zed" };

const EPOCH = "e1";

export class FakeSession {
  readonly sessionId: string;
  readonly cwd: string;
  title: string;
  updatedAt: number = Date.now();
  readonly journal: Journal = new Journal(epoch(EPOCH), 256_000_000);
  readonly attached: Set<FakeConnection> = new Set();
  readonly asks: Map<string, FakeAsk> = new Map();
  readonly queue: FakePrompt[] = [];
  running: FakePrompt | undefined;
  turn: TurnState = "idle";
  /** What the list says of it besides. */
  turnSince: number | undefined;
  branch: string | undefined;
  last: LastLine | undefined;
  supersededBy: string | undefined;
  /** modes, configOptions: what a load's result says of the present. */
  state: JsonObject = {};
  /** What the agent does with a prompt; ends the turn when it resolves. */
  onPrompt: (prompt: FakePrompt) => Promise<string> = () => Promise.resolve("end_turn");
  /** How many times this was prompted, by prompt id. */
  readonly runs: string[] = [];
  readonly #changed: () => void;
  readonly #everyone: () => Iterable<FakeConnection>;
  #nextAsk = 1;

  constructor(
    sessionId: string,
    title: string,
    cwd: string,
    changed: () => void,
    everyone: () => Iterable<FakeConnection>,
  ) {
    this.sessionId = sessionId;
    this.title = title;
    this.cwd = cwd;
    this.#changed = changed;
    this.#everyone = everyone;
  }

  get epoch(): string {
    return EPOCH;
  }

  /** An update of the agent. */
  emit(update: JsonObject, marks: { by?: By; promptId?: string } = {}, except?: FakeConnection): void {
    this.#append("session/update", { sessionId: this.sessionId, update }, marks, except);
    this.updatedAt = Date.now();
  }

  text(text: string, messageId = "m1"): void {
    this.emit({ sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } });
  }

  setTurn(state: TurnState, more: JsonObject = {}): void {
    if (state !== this.turn) this.turnSince = Date.now();
    this.turn = state;
    const queue = this.queueView() as unknown as Json;
    const prompt = this.running?.promptId;
    const who: JsonObject = this.running === undefined ? {} : { by: { ...this.running.by } };
    const params: JsonObject = {
      sessionId: this.sessionId,
      state,
      queue,
      ...who,
      ...(prompt !== undefined && { promptId: prompt }),
      ...more,
    };
    this.#append("_acp-hub/turn", params, {});
    this.#changed();
  }

  queueView(): QueueEntry[] {
    return this.queue.map(({ promptId, by, queuedAt, blocks }) => ({
      by,
      queuedAt,
      title: String(blocks.find((block) => block["type"] === "text")?.["text"] ?? "").slice(0, 120),
      ...(promptId !== undefined && { promptId }),
    }));
  }

  /** Asks everyone; resolves with the first answer and who gave it. */
  ask(method: string, params: JsonObject): Promise<{ readonly result: Json; readonly by: By }> {
    const interactionId = `${this.sessionId}-i${this.#nextAsk++}`;
    const openedAt = Date.now();
    const full: JsonObject = {
      sessionId: this.sessionId,
      ...params,
      _meta: { "acp-hub": { interactionId, openedAt } },
    };
    return new Promise((resolve) => {
      const ask: FakeAsk = {
        interactionId,
        sessionId: this.sessionId,
        method,
        params: full,
        openedAt,
        copies: new Map(),
        answered: (result, by) => resolve({ result, by }),
      };
      this.asks.set(interactionId, ask);
      for (const connection of this.#everyone()) connection.ask(ask);
      this.#changed();
    });
  }

  /** The one place an interaction ends: closes the copies, tells everyone, answers the agent. */
  settle(interactionId: string, result: Json, by: By, action = "answered"): boolean {
    const ask = this.asks.get(interactionId);
    if (ask === undefined) return false;
    this.asks.delete(interactionId);
    for (const [connection, id] of ask.copies) {
      if (connection.by.connectionId !== by.connectionId) connection.notify("$/cancel_request", { requestId: id, id });
    }
    const outcome = { action, ...outcomeOf(ask, result) };
    const call = ask.params["toolCall"];
    const toolCallId =
      typeof call === "object" && call !== null && !Array.isArray(call) ? call["toolCallId"] : undefined;
    const tool: JsonObject = typeof toolCallId === "string" ? { toolCallId } : {};
    const notice: JsonObject = {
      sessionId: this.sessionId,
      interactionId,
      ...tool,
      outcome,
      by: { ...by },
      at: Date.now(),
    };
    this.#append("_acp-hub/interaction_settled", notice, {});
    ask.answered(result, by);
    this.#changed();
    return true;
  }

  /** A prompt of anyone: waits for its turn, runs once. */
  prompt(prompt: FakePrompt): void {
    const waiting = this.queue.find((other) => other.promptId !== undefined && other.promptId === prompt.promptId);
    if (waiting !== undefined || (prompt.promptId !== undefined && this.running?.promptId === prompt.promptId)) {
      this.#joined.push(prompt);
      return;
    }
    if (prompt.promptId !== undefined && this.#outcomes.has(prompt.promptId)) {
      prompt.reply({ result: { stopReason: this.#outcomes.get(prompt.promptId) ?? "end_turn" } });
      return;
    }
    this.queue.push(prompt);
    if (this.running === undefined) void this.#runNext();
    else this.setTurn(this.turn);
  }

  #joined: FakePrompt[] = [];
  readonly #outcomes = new Map<string, string>();

  async #runNext(): Promise<void> {
    const prompt = this.queue.shift();
    if (prompt === undefined) return;
    this.running = prompt;
    this.runs.push(prompt.promptId ?? "");
    this.setTurn("running");
    const marks = { by: prompt.by, ...(prompt.promptId !== undefined && { promptId: prompt.promptId }) };
    const messageId = `u-${prompt.promptId ?? this.runs.length}`;
    for (const content of prompt.blocks)
      this.emit({ sessionUpdate: "user_message_chunk", messageId, content }, marks, prompt.connection);
    const stopReason = await this.onPrompt(prompt);
    this.setTurn("idle", { stopReason });
    this.running = undefined;
    if (prompt.promptId !== undefined) this.#outcomes.set(prompt.promptId, stopReason);
    const joined = this.#joined.filter((other) => other.promptId === prompt.promptId);
    this.#joined = this.#joined.filter((other) => other.promptId !== prompt.promptId);
    for (const one of [prompt, ...joined]) one.reply({ result: { stopReason } });
    if (this.queue.length > 0) await this.#runNext();
  }

  #append(method: string, params: JsonObject, marks: { by?: By; promptId?: string }, except?: FakeConnection): void {
    const seq = this.journal.append(Date.now(), method, params, 300, marks);
    const since = this.journal.itemsAfter(seq - 1);
    const item = since.ok ? since.items[0] : undefined;
    if (item === undefined) throw new Error("the journal lost what was just appended");
    const frame = itemText(item, this.journal.epoch);
    for (const connection of this.attached) if (connection !== except) connection.sendText(frame);
  }
}

function outcomeOf(ask: FakeAsk, result: Json): JsonObject {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return {};
  if (typeof result["action"] === "string") return { elicitation: result["action"] };
  const outcome = result["outcome"];
  const optionId =
    typeof outcome === "object" && outcome !== null && !Array.isArray(outcome) ? outcome["optionId"] : undefined;
  const options = Array.isArray(ask.params["options"]) ? ask.params["options"] : [];
  for (const option of options) {
    if (typeof option !== "object" || option === null || Array.isArray(option) || option["optionId"] !== optionId)
      continue;
    return { optionId: String(optionId), optionName: String(option["name"]), optionKind: String(option["kind"]) };
  }
  return {};
}
