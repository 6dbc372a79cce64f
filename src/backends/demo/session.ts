/** One session of the demo agent: what it remembers, and the turn that runs in it. */
import type { SessionUpdate, ToolCall, ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { ModeId, Speed } from "./choices.ts";

/** The oldest entries go first: a demo left running for weeks stays small. */
const HISTORY_MAX = 2000;

export class DemoSession {
  readonly id: string;
  readonly cwd: string;
  mode: ModeId = "ask";
  speed: Speed = "brisk";
  title: string | undefined;
  updatedAt: number;
  usedTokens = 0;
  /** True after "always allow" was chosen once. */
  editsAllowed = false;
  readonly #history: SessionUpdate[] = [];
  #messageCount = 0;
  #toolCount = 0;
  /** Aborted by a cancel; a new one per cancel, shared by the running and the waiting turns. */
  #cancel = new AbortController();
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(id: string, cwd: string, now: number) {
    this.id = id;
    this.cwd = cwd;
    this.updatedAt = now;
  }

  nextMessageId(): string {
    this.#messageCount += 1;
    return `${this.id}-m${this.#messageCount}`;
  }

  nextToolCallId(): string {
    this.#toolCount += 1;
    return `${this.id}-t${this.#toolCount}`;
  }

  /** Runs `play` after the turns before it, as agents that queue do. */
  enqueue<T>(play: (cancelled: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#cancel;
    const run = this.#lastTurn.then(() => play(signal));
    this.#lastTurn = run.catch(() => undefined);
    return run;
  }

  /** Ends the running turn and those that wait. */
  cancel(): void {
    this.#cancel.abort();
    this.#cancel = new AbortController();
  }

  /** What a load replays, as one entry per message and per tool call. */
  get history(): readonly SessionUpdate[] {
    return this.#history;
  }

  remember(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk":
        if (this.#joinChunk(update)) return;
        break;
      case "tool_call_update":
        this.#mergeToolCall(update);
        return;
      case "tool_call":
      case "plan":
        break;
      default:
        // States: the load's result and the updates after it carry the present ones.
        return;
    }
    this.#history.push(structuredClone(update));
    if (this.#history.length > HISTORY_MAX) this.#history.shift();
  }

  #joinChunk(update: Extract<SessionUpdate, { content: unknown; messageId?: unknown }>): boolean {
    const last = this.#history.at(-1);
    if (last?.sessionUpdate !== update.sessionUpdate || !("messageId" in last) || !("messageId" in update))
      return false;
    if (last.messageId !== update.messageId) return false;
    if (last.content.type !== "text" || update.content.type !== "text") return false;
    last.content.text += update.content.text;
    return true;
  }

  #mergeToolCall(update: ToolCallUpdate & { sessionUpdate: "tool_call_update" }): void {
    const isCard = (entry: SessionUpdate): entry is ToolCall & { sessionUpdate: "tool_call" } =>
      entry.sessionUpdate === "tool_call" && entry.toolCallId === update.toolCallId;
    const card = this.#history.find(isCard);
    if (card !== undefined) Object.assign(card, structuredClone(update), { sessionUpdate: "tool_call" });
  }
}
