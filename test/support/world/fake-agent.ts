/** A scriptable ACP agent: it records what it is sent, answers what it is told to, and complains about what breaks an agent. */
import { type Json, type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";
import type { Received } from "./acp-client.ts";

export interface AgentRequest {
  readonly id: Json;
  readonly method: string;
  readonly params: JsonObject;
}

type Responder = (request: AgentRequest) => void;

const MODES = {
  currentModeId: "ask",
  availableModes: [
    { id: "ask", name: "Ask" },
    { id: "code", name: "Code" },
  ],
};

export class FakeAgent {
  readonly #send: (text: string) => void;
  readonly received: Received[] = [];
  /** Prompts that run, oldest first. */
  readonly prompts: AgentRequest[] = [];
  /** Other requests nobody has answered. */
  readonly pending: AgentRequest[] = [];
  readonly responders: Map<string, Responder> = new Map();
  /** What a load replays, per session. */
  readonly histories: Map<string, readonly JsonObject[]> = new Map();
  /** Answers to its own requests, by id. */
  readonly answers: Map<Json, Received> = new Map();
  readonly problems: string[] = [];
  /** Ends the turn when it is cancelled and everything it asked is answered, as good agents do. */
  endsOnCancel = true;
  #nextSession = 1;
  #nextAsk = 0;
  readonly #open = new Map<Json, string | undefined>();
  readonly #cancelled = new Set<string>();

  /** `prefix`: stands before the ids of its sessions. */
  constructor(send: (text: string) => void, prefix = "") {
    this.#send = send;
    this.responders.set("initialize", (request) =>
      this.respond(request, {
        protocolVersion: 1,
        agentInfo: { name: "fake", version: "1" },
        agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {} } },
        authMethods: [],
      }),
    );
    this.responders.set("session/new", (request) => {
      const sessionId = `${prefix}s${this.#nextSession++}`;
      this.respond(request, { sessionId, modes: MODES });
    });
    this.responders.set("session/load", (request) => {
      this.replay(stringAt(request.params, "sessionId") ?? "");
      this.respond(request, { modes: MODES });
    });
    this.responders.set("session/resume", (request) => this.respond(request, { modes: MODES }));
    this.responders.set("session/list", (request) => this.respond(request, { sessions: [] }));
    for (const method of ["session/close", "session/set_mode", "session/delete"])
      this.responders.set(method, (request) => this.respond(request, {}));
    this.responders.set("session/prompt", (request) => this.prompts.push(request));
  }

  /** Leaves requests of `method` pending until the test answers them. */
  hold(method: string): void {
    this.responders.delete(method);
  }

  raw(text: string): void {
    this.#send(text);
  }

  respond(request: AgentRequest, result: Json): void {
    this.#send(JSON.stringify({ jsonrpc: "2.0", id: request.id, result }));
    this.#drop(request);
  }

  fail(request: AgentRequest, code: number, message = "failed"): void {
    this.#send(JSON.stringify({ jsonrpc: "2.0", id: request.id, error: { code, message } }));
    this.#drop(request);
  }

  notify(method: string, params: JsonObject): void {
    this.#send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  update(sessionId: string, update: JsonObject): void {
    this.notify("session/update", { sessionId, update });
  }

  say(sessionId: string, text: string, messageId?: string): void {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
    this.update(sessionId, messageId === undefined ? update : { ...update, messageId });
  }

  replay(sessionId: string): void {
    for (const update of this.histories.get(sessionId) ?? []) this.update(sessionId, update);
  }

  /** Asks something under the agent's own id (0, 1, 2 … as real ones do) and returns that id. */
  ask(method: string, params: JsonObject, id: Json = this.#nextAsk++): Json {
    this.#open.set(id, stringAt(params, "sessionId"));
    this.#send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return id;
  }

  askPermission(sessionId: string, toolCallId = "call-1", extra: JsonObject = {}): Json {
    return this.ask("session/request_permission", {
      sessionId,
      toolCall: { toolCallId, title: `Run ${toolCallId}`, ...objectAt(extra, "toolCall") },
      options: [
        { optionId: "allow", name: "Allow", kind: "allow_once" },
        { optionId: "always", name: "Always", kind: "allow_always" },
        { optionId: "reject", name: "Reject", kind: "reject_once" },
      ],
    });
  }

  askForm(sessionId: string, requestedSchema: JsonObject, extra: JsonObject = {}): Json {
    return this.ask("elicitation/create", {
      sessionId,
      mode: "form",
      message: "Which one?",
      requestedSchema,
      ...extra,
    });
  }

  /** Ends the oldest running prompt of the session. */
  end(sessionId: string, stopReason = "end_turn"): void {
    const prompt = this.prompts.find((each) => each.params["sessionId"] === sessionId);
    if (prompt === undefined) throw new Error(`no prompt runs in ${sessionId}`);
    this.respond(prompt, { stopReason });
  }

  /** The last request or notification of `method` it was sent. */
  last(method: string): Received | undefined {
    return this.received.findLast((message) => message.method === method);
  }

  of(method: string): readonly Received[] {
    return this.received.filter((message) => message.method === method);
  }

  /** The result of its question, once it has one. */
  answerTo(id: Json): Json | undefined {
    const answer = this.answers.get(id);
    return answer?.result ?? (answer?.error === undefined ? undefined : { error: answer.error.code });
  }

  onText(text: string): void {
    const message = JSON.parse(text) as Received;
    this.received.push(message);
    if (message.method === undefined) this.#onAnswer(message);
    else if (message.id !== undefined)
      this.#onRequest({ id: message.id, method: message.method, params: message.params ?? {} });
    else if (message.method === "session/cancel") this.#onCancel(stringAt(message.params, "sessionId") ?? "");
  }

  #onRequest(request: AgentRequest): void {
    const responder = this.responders.get(request.method);
    if (responder === undefined) this.pending.push(request);
    else responder(request);
  }

  #onAnswer(message: Received): void {
    const id = message.id ?? null;
    if (!this.#open.delete(id)) this.problems.push(`answer to ${JSON.stringify(id)}, which is not open`);
    this.answers.set(id, message);
    this.#endCancelled();
  }

  #onCancel(sessionId: string): void {
    if (!this.endsOnCancel) return;
    this.#cancelled.add(sessionId);
    this.#endCancelled();
  }

  #endCancelled(): void {
    for (const sessionId of [...this.#cancelled]) {
      if ([...this.#open.values()].includes(sessionId)) continue;
      this.#cancelled.delete(sessionId);
      for (const prompt of this.prompts.filter((each) => each.params["sessionId"] === sessionId))
        this.respond(prompt, { stopReason: "cancelled" });
    }
  }

  #drop(request: AgentRequest): void {
    for (const list of [this.prompts, this.pending]) {
      const at = list.indexOf(request);
      if (at >= 0) list.splice(at, 1);
    }
  }
}

/** Common updates of a history. */
export const chunk = (text: string, messageId?: string, sessionUpdate = "agent_message_chunk"): JsonObject => ({
  sessionUpdate,
  content: { type: "text", text },
  ...(messageId !== undefined && { messageId }),
});

export const toolCall = (toolCallId: string, fields: JsonObject = {}): JsonObject => ({
  sessionUpdate: "tool_call",
  toolCallId,
  title: toolCallId,
  status: "pending",
  ...fields,
});

export const toolUpdate = (toolCallId: string, fields: JsonObject): JsonObject => ({
  sessionUpdate: "tool_call_update",
  toolCallId,
  ...fields,
});
