/** What a scene can do while its turn runs. Every wait ends at once when the turn is cancelled. */
import {
  type AgentContext,
  type ContentBlock,
  type CreateElicitationResponse,
  type ElicitationSchema,
  methods,
  type PermissionOption,
  type PlanEntry,
  type SessionUpdate,
  type ToolCall,
  type ToolCallContent,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { PACE_OF } from "./choices.ts";
import type { DemoSession } from "./session.ts";

/** Waits `ms`, or rejects when `signal` aborts. Tests pass one that does not wait. */
export type Pace = (ms: number, signal: AbortSignal) => Promise<void>;

export interface TurnOptions {
  readonly session: DemoSession;
  readonly client: AgentContext;
  readonly prompt: readonly ContentBlock[];
  readonly signal: AbortSignal;
  readonly pace: Pace;
  readonly canShowForms: boolean;
}

const CHUNK_MS = 30;

export class Turn {
  readonly session: DemoSession;
  readonly prompt: readonly ContentBlock[];
  readonly signal: AbortSignal;
  /** True when the client declared `elicitation.form`. */
  readonly canShowForms: boolean;
  readonly #client: AgentContext;
  readonly #pace: Pace;
  /** Tool calls that have not ended: a cancelled turn must not leave a card that spins for ever. */
  readonly #openToolCalls = new Set<string>();
  /** Set by a scene that goes on after its turn. */
  sequel: ((turn: Turn) => Promise<void>) | undefined;

  constructor(options: TurnOptions) {
    this.session = options.session;
    this.prompt = options.prompt;
    this.signal = options.signal;
    this.canShowForms = options.canShowForms;
    this.#client = options.client;
    this.#pace = options.pace;
  }

  /** All text of the prompt, lower case. */
  get words(): string {
    return this.prompt
      .map((block) => (block.type === "text" ? block.text : ""))
      .join(" ")
      .toLowerCase();
  }

  pause(ms: number): Promise<void> {
    return this.#pace(ms * PACE_OF[this.session.speed], this.signal);
  }

  async update(update: SessionUpdate): Promise<void> {
    this.session.remember(update);
    await this.#client.notify(methods.client.session.update, { sessionId: this.session.id, update });
  }

  /** Streams one message word by word. */
  say(text: string): Promise<void> {
    return this.#stream("agent_message_chunk", text);
  }

  think(text: string): Promise<void> {
    return this.#stream("agent_thought_chunk", text);
  }

  plan(entries: readonly PlanEntry[]): Promise<void> {
    return this.update({ sessionUpdate: "plan", entries: [...entries] });
  }

  /** Announces a tool call and gives its id. */
  async tool(card: Omit<ToolCall, "toolCallId">): Promise<string> {
    const toolCallId = this.session.nextToolCallId();
    this.#openToolCalls.add(toolCallId);
    await this.update({ sessionUpdate: "tool_call", toolCallId, status: "pending", ...card });
    return toolCallId;
  }

  async toolUpdate(toolCallId: string, change: Omit<ToolCallUpdate, "toolCallId">): Promise<void> {
    if (change.status === "completed" || change.status === "failed") this.#openToolCalls.delete(toolCallId);
    await this.update({ sessionUpdate: "tool_call_update", toolCallId, ...change });
  }

  /** Asks for permission and gives the chosen option's id; undefined when it was cancelled. */
  async ask(toolCall: ToolCallUpdate, options: readonly PermissionOption[]): Promise<string | undefined> {
    const { outcome } = await this.#client.request(
      methods.client.session.requestPermission,
      { sessionId: this.session.id, toolCall, options: [...options] },
      { cancellationSignal: this.signal, stopWaitingOnCancel: true },
    );
    return outcome.outcome === "selected" ? outcome.optionId : undefined;
  }

  form(message: string, requestedSchema: ElicitationSchema): Promise<CreateElicitationResponse> {
    return this.#client.request(
      methods.client.elicitation.create,
      { mode: "form", sessionId: this.session.id, message, requestedSchema },
      { cancellationSignal: this.signal, stopWaitingOnCancel: true },
    );
  }

  /** Ends what a cancel left open. */
  async closeToolCalls(): Promise<void> {
    for (const toolCallId of [...this.#openToolCalls]) {
      await this.toolUpdate(toolCallId, { status: "failed", content: [textContent("Cancelled")] });
    }
  }

  async #stream(kind: "agent_message_chunk" | "agent_thought_chunk", text: string): Promise<void> {
    const messageId = this.session.nextMessageId();
    // Two words at a time, each with the space before it.
    for (const piece of text.match(/\s*\S+(?:\s+\S+)?\s*$|\s*\S+(?:\s+\S+)?/g) ?? []) {
      await this.pause(CHUNK_MS);
      await this.update({ sessionUpdate: kind, messageId, content: { type: "text", text: piece } });
      this.session.usedTokens += 2;
    }
  }
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}
