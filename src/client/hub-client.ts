/**
 * A hub as one client sees it: a connection, the sessions attached on it, the agent's open questions, the prompts on
 * their way. Used by the app, the CLI and tests.
 *
 * H1 Every session that is open here is attached again, by cursor, on every new socket: once, right behind initialize, and not
 *    before what the device kept of it has been read.
 * H2 An answer that was on its way when the socket went is given again when the question is asked again; the person
 *    decided once.
 * H3 Prompts go out only for sessions that are attached, so that their turn notices are seen.
 */

import { ACP } from "../protocol/acp.ts";
import type { RpcId } from "../protocol/envelope.ts";
import { HUB, type SettledNotice, type TurnNotice } from "../protocol/hub-methods.ts";
import { type SessionId, sessionId } from "../protocol/ids.ts";
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { HUB_META } from "../protocol/meta.ts";
import { readSettledNotice, readTurnNotice } from "../protocol/notices.ts";
import type { AnswerOutcome } from "./api/hub-api.ts";
import { Connection, type ConnectionEvent, type ConnectionOptions } from "./connection.ts";
import { Emitter, Observable, type Unsubscribe } from "./emitter.ts";
import { CallError } from "./errors.ts";
import {
  type InteractionCard,
  type InteractionInput,
  type InteractionState,
  NO_INTERACTIONS,
  reduceInteractions,
} from "./interactions.ts";
import { Outbox, type OutboxEntry } from "./outbox.ts";
import { type ClientStorage, memoryStorage } from "./ports.ts";
import { SessionClient, type SessionOptions } from "./session.ts";

export interface HubClientOptions extends Omit<ConnectionOptions, "answers"> {
  /** Where prompts wait between page loads; memory by default. */
  readonly storage?: ClientStorage;
  /** The hub's own time, for what it would have dated; this device's where it is not known. */
  readonly hubNow?: () => number;
  /** Makes a prompt id: unique for ever. */
  readonly newId: () => string;
  /** Answers a question that was never asked on this socket (it is only listed). */
  readonly answerByHttp?: (interactionId: string, answer: Json) => Promise<AnswerOutcome>;
}

export interface NewSession {
  readonly cwd: string;
  readonly instance?: string;
}

const QUESTIONS: ReadonlySet<string> = new Set([ACP.requestPermission, ACP.elicitationCreate]);

export class HubClient {
  readonly connection: Connection;
  readonly outbox: Outbox;
  readonly interactions: Observable<InteractionState> = new Observable(NO_INTERACTIONS);
  /** Notices of no open session, and those a screen may want as they pass (turn ends, settlements). */
  readonly notices: Emitter<{ readonly method: string; readonly params: JsonObject }> = new Emitter();
  readonly #options: HubClientOptions;
  readonly #sessions = new Map<SessionId, SessionClient>();
  /** Sessions that are read from the store. */
  readonly #preparing = new Set<SessionClient>();
  /** Sessions the present socket was asked for. */
  readonly #requested = new Set<SessionClient>();
  /** Ids of every socket this client had: a verdict may name an earlier one. Bounded by `OWN_CONNECTIONS_MAX`. */
  readonly #ownConnections = new Set<string>();
  readonly #unsubscribe: readonly Unsubscribe[];

  constructor(options: HubClientOptions) {
    this.#options = options;
    this.connection = new Connection({ ...options, answers: QUESTIONS });
    const storage = options.storage ?? memoryStorage();
    this.outbox = new Outbox(storage, options.clock, (entry, isPreempting) => this.#sendPrompt(entry, isPreempting));
    this.#unsubscribe = [
      this.connection.state.subscribe(() => this.#onState()),
      this.connection.events.subscribe((event) => this.#onEvent(event)),
    ];
  }

  start(): void {
    this.connection.start();
  }

  /** Ends the connection for good and lets go of everything. */
  stop(): void {
    this.connection.stop();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  session(id: string): SessionClient | undefined {
    return this.#sessions.get(sessionId(id));
  }

  /** Opens a session and keeps it attached until `close`. `prepare` runs before the first load (restore from a store). */
  async open(
    id: string,
    options: SessionOptions = {},
    prepare?: (session: SessionClient) => Promise<void>,
  ): Promise<SessionClient> {
    const known = this.session(id);
    if (known !== undefined) return known;
    const session = this.#add(sessionId(id), options);
    this.#preparing.add(session);
    try {
      await prepare?.(session);
    } finally {
      this.#preparing.delete(session);
    }
    if (this.session(id) === session) this.#attachAll();
    return session;
  }

  /** Lets go of a session: the hub stops sending it, the agent notices nothing. */
  close(id: string): void {
    const session = this.session(id);
    if (session === undefined) return;
    this.#sessions.delete(session.sessionId);
    if (this.#requested.delete(session))
      this.connection.call("session/detach", { sessionId: id }).catch(() => undefined);
  }

  async newSession(request: NewSession): Promise<SessionClient> {
    const hub: JsonObject = request.instance === undefined ? {} : { instance: request.instance };
    const params: JsonObject = { cwd: request.cwd, mcpServers: [], _meta: { [HUB_META]: hub } };
    const answer = await this.connection.call(ACP.sessionNew, params);
    const id = isObject(answer) ? stringAt(answer, "sessionId") : undefined;
    if (id === undefined) throw new CallError({ code: -32603, message: "The agent made no session" });
    const options = { cwd: request.cwd, ...(request.instance !== undefined && { instance: request.instance }) };
    const session = this.session(id) ?? this.#add(sessionId(id), options);
    this.#requested.add(session);
    session.adopt(answer);
    return session;
  }

  /** Keeps a prompt on the device and sends it as soon as its session is attached. Gives its id. */
  prompt(id: string, blocks: readonly JsonObject[]): string {
    const promptId = this.#options.newId();
    this.outbox.add(promptId, id, blocks);
    this.#flush();
    return promptId;
  }

  retryPrompt(promptId: string): void {
    this.outbox.retry(promptId);
    this.#flush();
  }

  /** Takes back a prompt that has not started. False when the hub says it has. */
  async withdrawPrompt(promptId: string): Promise<boolean> {
    const entry = this.outbox.get(promptId);
    if (entry === undefined) return true;
    if (entry.delivery === "hub" || (entry.delivery === "phone" && this.#isReady())) {
      try {
        await this.session(entry.sessionId)?.removeQueued(promptId);
      } catch (error) {
        if (entry.delivery === "hub" || !(error instanceof CallError)) return false;
      }
    }
    this.outbox.remove(promptId);
    return true;
  }

  /** Answers a question: on the socket it was asked on, else over HTTP. The card's state tells how it went. */
  async answer(interactionId: string, result: Json): Promise<void> {
    this.#reduce({ kind: "answering", interactionId, result, now: this.#options.clock.now() });
    await this.#deliverAnswer(interactionId, result);
  }

  /** What `GET /api/interactions` or an event told. */
  setListed(interactions: Extract<InteractionInput, { kind: "listed" }>["interactions"]): void {
    this.#reduce({ kind: "listed", interactions });
  }

  #isReady(): boolean {
    return this.connection.state.value.kind === "ready";
  }

  #add(id: SessionId, options: SessionOptions): SessionClient {
    const port = {
      clock: this.#options.clock,
      hubNow: () => this.#hubNow(),
      call: this.connection.call.bind(this.connection),
      notify: this.connection.notify.bind(this.connection),
    };
    const session = new SessionClient(id, port, options);
    this.#sessions.set(id, session);
    return session;
  }

  #onState(): void {
    const state = this.connection.state.value;
    if (state.kind === "ready") {
      const { connectionId, deviceId } = state.info;
      if (connectionId !== undefined) remember(this.#ownConnections, connectionId);
      // What this device answers over HTTP is announced under this name.
      if (deviceId !== undefined) remember(this.#ownConnections, `http:${deviceId}`);
      this.#attachAll();
    } else if (state.kind === "initializing") this.#attachAll();
    else if (state.kind === "reconnecting" || state.kind === "stopped" || state.kind === "connecting") {
      this.#reduce({ kind: "link-lost" });
      this.#requested.clear();
      for (const session of this.#sessions.values()) session.detached();
    }
  }

  #attachAll(): void {
    const { kind } = this.connection.state.value;
    if (kind !== "ready" && kind !== "initializing") return;
    for (const session of this.#sessions.values()) {
      if (this.#requested.has(session) || this.#preparing.has(session)) continue;
      this.#requested.add(session);
      void session.attach().then(() => this.#flush());
    }
  }

  #flush(): void {
    if (this.#isReady()) this.outbox.flush((id) => this.session(id)?.view.value.attach.kind === "live");
  }

  #sendPrompt(entry: OutboxEntry, isPreempting: boolean): Promise<Json> {
    const { sessionId: id, promptId, blocks } = entry;
    const hub: JsonObject = { promptId, ...(isPreempting && { delivery: "preempt" }) };
    const params: JsonObject = { sessionId: id, prompt: [...blocks], _meta: { [HUB_META]: hub } };
    return this.connection.call(ACP.sessionPrompt, params);
  }

  #onEvent(event: ConnectionEvent): void {
    if (event.kind === "request") this.#asked(event.id, event.method, event.params);
    else this.#onNotification(event.method, event.params);
  }

  #onNotification(method: string, params: JsonObject): void {
    if (method === HUB.turn) this.#onTurn(readTurnNotice(params));
    else if (method === HUB.interactionSettled) this.#settled(readSettledNotice(params));
    else if (method === HUB.interactionRejected) this.#rejected(params);
    else if (method === ACP.cancelRequest) this.#withdrawn(params);
    const id = stringAt(params, "sessionId");
    if (id !== undefined) this.session(id)?.receive(method, params);
    else if (method === HUB.presence) for (const session of this.#sessions.values()) session.receive(method, params);
    if (method !== ACP.sessionUpdate) this.notices.emit({ method, params });
  }

  #onTurn(notice: TurnNotice): void {
    this.outbox.noticed(notice);
    const entry = notice.promptId === undefined ? undefined : this.outbox.get(notice.promptId);
    if (entry !== undefined) this.session(entry.sessionId)?.echo(entry.promptId, entry.blocks);
  }

  #asked(id: RpcId, method: string, params: JsonObject): void {
    this.#reduce({ kind: "asked", rpcId: id, method, params, now: this.#hubNow() });
    const card = this.interactions.value.open.find((other) => other.rpcId === id);
    if (card?.answer !== undefined) void this.#deliverAnswer(card.interactionId, card.answer.result);
  }

  #withdrawn(params: JsonObject): void {
    const id = params["requestId"];
    if (typeof id === "number" || typeof id === "string") this.#reduce({ kind: "withdrawn", rpcId: id });
  }

  #settled(notice: SettledNotice | undefined): void {
    if (notice === undefined) return;
    this.#reduce({ kind: "settled", notice, isOurs: ({ by }) => this.#ownConnections.has(by.connectionId) });
  }

  #rejected(params: JsonObject): void {
    const interactionId = stringAt(params, "interactionId");
    if (interactionId === undefined) return;
    this.#reduce({ kind: "rejected", interactionId, reason: stringAt(params, "reason") ?? "The answer was not valid" });
  }

  async #deliverAnswer(interactionId: string, result: Json): Promise<void> {
    const card = this.interactions.value.open.find((other) => other.interactionId === interactionId);
    if (card === undefined) return;
    if (card.rpcId !== undefined && this.connection.respond(card.rpcId, result))
      await this.#confirmArrival(interactionId);
    else if (this.#options.answerByHttp !== undefined) await this.#answerByHttp(interactionId, result);
  }

  /** A JSON-RPC answer has no answer. The next call on the same socket has: when it comes, ours was read before it. */
  async #confirmArrival(interactionId: string): Promise<void> {
    try {
      await this.connection.call(HUB.queueList, {});
    } catch (error) {
      if (!(error instanceof CallError)) return;
    }
    this.#reduce({ kind: "accepted", interactionId });
  }

  async #answerByHttp(interactionId: string, result: Json): Promise<void> {
    try {
      const outcome = (await this.#options.answerByHttp?.(interactionId, result)) ?? { kind: "pending" };
      if (outcome.kind === "pending") this.#reduce({ kind: "accepted", interactionId });
      else if (outcome.kind === "invalid") this.#reduce({ kind: "rejected", interactionId, reason: outcome.reason });
      else this.#settledByHttp(interactionId, outcome.kind, outcome.by, result);
    } catch {
      this.#reduce({
        kind: "answer-failed",
        interactionId,
        reason: "The hub could not be reached. Nothing was decided.",
      });
    }
  }

  #settledByHttp(
    interactionId: string,
    kind: "applied" | "lost",
    settledBy: JsonObject | undefined,
    result: Json,
  ): void {
    const by = {
      connectionId: stringAt(settledBy, "connectionId") ?? "",
      device: stringAt(settledBy, "device") ?? "",
      name: stringAt(settledBy, "name") ?? (kind === "applied" ? "this device" : "another client"),
    };
    const card = this.interactions.value.open.find((other) => other.interactionId === interactionId);
    const outcome = { action: "answered" as const, ...(kind === "applied" && outcomeOf(card, result)) };
    const notice: SettledNotice = { interactionId, outcome, by, at: this.#hubNow() };
    this.#reduce({ kind: "settled", notice, isOurs: () => kind === "applied" });
  }

  #hubNow(): number {
    return this.#options.hubNow?.() ?? this.#options.clock.now();
  }

  #reduce(input: InteractionInput): void {
    this.interactions.set(reduceInteractions(this.interactions.value, input));
  }
}

/** What an answer of ours says, as the hub would tell it. */
function outcomeOf(card: InteractionCard | undefined, result: Json): Omit<SettledNotice["outcome"], "action"> {
  const answer = isObject(result) ? result : undefined;
  const elicitation = stringAt(answer, "action");
  if (elicitation !== undefined) return { elicitation };
  const optionId = stringAt(objectAt(answer, "outcome"), "optionId");
  if (optionId === undefined) return {};
  const option = (arrayAt(card?.params, "options") ?? [])
    .filter(isObject)
    .find((each) => each["optionId"] === optionId);
  const [optionName, optionKind] = [stringAt(option, "name"), stringAt(option, "kind")];
  return {
    optionId,
    ...(optionName !== undefined && { optionName }),
    ...(optionKind !== undefined && { optionKind }),
  };
}

const OWN_CONNECTIONS_MAX = 64;

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const oldest = ids.values().next().value;
  if (ids.size > OWN_CONNECTIONS_MAX && oldest !== undefined) ids.delete(oldest);
}
