/**
 * The root multiplexer: one agent, the editor and the link (semantics R). Inputs are methods, effects are calls on the ports;
 * nothing here waits, and no port calls back synchronously.
 *
 * Ro1 What decides, decides here: numbering, lane, echo, turn notices, settling (R1).
 * Ro2 The editor is served as without us: its bytes go on untouched, and nothing of the hub can delay or fail it.
 * Ro3 Whatever a peer sends gets a defined answer; a message that means nothing is counted and dropped.
 */
import { ACP, ACP_VERSION } from "../../protocol/acp.ts";
import {
  type Frame,
  failure,
  paramsOf,
  type RpcFailure,
  type RpcId,
  type RpcRequest,
} from "../../protocol/envelope.ts";
import { hubError, invalidParams, RPC } from "../../protocol/errors.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { asJson, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import { hubMeta, readBy, withHubMeta } from "../../protocol/meta.ts";
import { abilitiesOf } from "../capabilities.ts";
import { publicClientInfo } from "../client-info.ts";
import type { Sink } from "../fanout/outbox.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { AgentStart } from "./agent-start.ts";
import { Asks } from "./asks.ts";
import { bodyText, type Call, InFlight } from "./calls.ts";
import { Primary, RootContext } from "./context.ts";
import { Ending } from "./ending.ts";
import { HOLD_TIMER } from "./holds.ts";
import { HostRequests } from "./host-requests.ts";
import { LinkControl } from "./link-control.ts";
import { asSessionId } from "./link-side.ts";
import { Listing } from "./listing.ts";
import { Loads } from "./loads.ts";
import { Opens } from "./opens.ts";
import type { RootOptions, RootPorts } from "./ports.ts";
import { tellAlone } from "./presence.ts";
import { takePrimaryResponse } from "./primary-copy.ts";
import { Publisher } from "./publisher.ts";
import { Requests } from "./requests.ts";
import type { RootSession } from "./session.ts";
import { Setters } from "./setters.ts";
import { TerminalMirror } from "./terminal-mirror.ts";
import { Turns } from "./turns.ts";
import { AgentUpdates } from "./updates.ts";

export class Root {
  readonly #context: RootContext;
  readonly #start: AgentStart;
  readonly #publisher: Publisher;
  readonly #asks: Asks;
  readonly #turns: Turns;
  readonly #opens: Opens;
  readonly #setters: Setters;
  readonly #hosts: HostRequests;
  readonly #requests: Requests;
  readonly #updates: AgentUpdates;
  readonly #linkControl: LinkControl;
  readonly #linkCalls = new InFlight<Call>();
  /** How the agent ended, once it has: every request gets it. */
  #gone: AnswerBody | undefined;
  /** Remote clients, as the hub last said. */
  #clientCount = 0;
  #lastSeenAt = 0;
  #lastNow = 0;

  constructor(ports: RootPorts, options: RootOptions) {
    const context = new RootContext(ports, options);
    this.#context = context;
    this.#publisher = new Publisher(context);
    this.#asks = new Asks(context, this.#publisher);
    this.#turns = new Turns(context, this.#publisher, this.#asks);
    this.#linkControl = new LinkControl(context, this.#asks, this.#turns);
    this.#setters = new Setters(context, this.#publisher);
    this.#opens = new Opens(context, this.#publisher, (session, frame, now) =>
      this.#updates.deliver(session, frame, now),
    );
    const ending = new Ending(context, this.#asks, this.#turns, this.#setters);
    const loads = new Loads(context, this.#opens, (session, reason, now) => ending.end(session, reason, now));
    this.#hosts = new HostRequests(context, new TerminalMirror(this.#publisher));
    this.#updates = new AgentUpdates(context, this.#publisher, {
      turns: this.#turns,
      setters: this.#setters,
      opens: this.#opens,
      loads,
      asks: this.#asks,
      hosts: this.#hosts,
    });
    this.#start = new AgentStart(context);
    const listing = new Listing(context);
    this.#requests = new Requests(context, {
      turns: this.#turns,
      opens: this.#opens,
      loads,
      ending,
      setters: this.#setters,
      listing,
    });
  }

  /** The live sessions, for the hello: a hub that has just started says what it kept of them. */
  liveEpochs(): { sessionId: string; epoch: string; cwd: string }[] {
    return [...this.#context.sessions.values()].map(({ id, epoch, cwd }) => ({ sessionId: id, epoch, cwd }));
  }

  /** Somebody is there or something goes on: a headless bridge does not end meanwhile (L6). */
  get isBusy(): boolean {
    if (this.#clientCount > 0 || this.#asks.openCount > 0) return true;
    return [...this.#context.sessions.values()].some(
      (session) =>
        session.lane.isRunning ||
        session.lane.waiting.length > 0 ||
        session.backendTurns.size > 0 ||
        session.backendTasks > 0 ||
        session.remoteCount > 0,
    );
  }

  /** When a remote client last said something, or left. */
  get lastSeenAt(): number {
    return this.#lastSeenAt;
  }

  /** A headless bridge initializes its agent itself (I2). */
  startHeadless(): void {
    this.#start.headless();
  }

  /** End of the tick: what was published is written. */
  flush(): void {
    this.#context.flush();
  }

  /** One message of the agent. */
  onAgent(frame: Frame, now: number): void {
    this.#lastNow = now;
    switch (frame.kind) {
      case "response":
        if (!this.#context.agent.onResponse(frame.msg, now)) this.#context.ports.observe({ kind: "unknown-response" });
        return;
      case "request":
        this.#updates.onRequest(frame, now);
        return;
      case "notification":
        if (frame.msg.method === ACP.cancelRequest) this.#onAgentCancel(paramsOf(frame.msg), now);
        else this.#updates.onNotification(frame, now);
    }
  }

  /** The agent has ended. `error` names the exit code and the tail of stderr (S8). */
  onAgentGone(message: string, data: JsonObject, now: number): void {
    const error = hubError(RPC.internalError, "agent-exited", message, data);
    this.#gone = { error };
    this.#hosts.onAgentGone();
    this.#asks.abandonAll(now);
    for (const session of this.#context.sessions.values()) this.#turns.endWaiting(session, { error });
    this.#start.onAgentGone({ error });
    this.#context.agent.failAll({ error }, now);
    this.#context.flush();
  }

  /** One message of the editor. */
  onPrimary(frame: Frame, now: number): void {
    const { primary } = this.#context;
    if (primary === undefined || primary.isGone) return;
    this.#lastNow = now;
    if (frame.kind === "response") {
      if (!takePrimaryResponse(this.#context, frame.msg, now)) this.#context.ports.observe({ kind: "late-answer" });
      return;
    }
    const params = paramsOf(frame.msg);
    if (frame.kind === "notification") {
      if (!primary.hasBegun) return;
      this.#requests.onNotification(primary.caller, frame.msg.method, params ?? {}, primary.inFlight.values(), now);
      return;
    }
    const { id, method } = frame.msg;
    if (!primary.hasBegun && method !== ACP.initialize) {
      this.refusePrimary(failure(id, hubError(RPC.invalidRequest, "not-initialized", "initialize has to come first")));
      return;
    }
    const call = this.#primaryCall(frame.msg, params ?? {});
    if (!primary.inFlight.add(id, call)) {
      this.refusePrimary(
        failure(id, hubError(RPC.invalidRequest, "duplicate-request-id", "A request with this id is in flight")),
      );
      return;
    }
    if (method === ACP.initialize) this.#initializePrimary(call);
    else if (this.#gone !== undefined) call.answer(this.#gone);
    else if (params === undefined && frame.msg.params !== undefined)
      call.answer({ error: invalidParams("params", "must be an object") });
    else this.#requests.onRequest(call, now);
  }

  /** Junk on the editor's pipe gets the refusal the parser made (T1). */
  refusePrimary(refusal: RpcFailure): void {
    this.#context.ports.toPrimary(JSON.stringify(refusal));
  }

  /** The editor has closed its pipe. The shell ends the agent next (L1). */
  onPrimaryGone(now: number = this.#lastNow): void {
    const { primary } = this.#context;
    if (primary === undefined || primary.isGone) return;
    primary.isGone = true;
    primary.inFlight.clear();
    this.#hosts.onPrimaryGone(now);
    this.#asks.onPrimaryGone(now);
    for (const session of this.#context.sessions.values()) {
      this.#opens.detachPrimary(session);
      this.#turns.onCallerGone(session, (caller) => caller.isPrimary, now);
    }
  }

  /**
   * A hub answered the hello: it is told the state, then gets the events it lacks (R4). `onHopeless` is called once when the hub
   * reads so slowly that the link should be dropped and dialled anew; without it there is no such bound. `features`: what the hub
   * said it does.
   */
  onLinkUp(sink: Sink<string>, acked: JsonObject, onHopeless?: () => void, features: readonly string[] = []): void {
    this.#linkCalls.clear();
    this.#context.flush();
    this.#context.link.up(sink, onHopeless, features);
    this.#asks.onLinkUp();
    const sessions = [...this.#context.sessions.values()];
    const snapshot = {
      ...this.#context.describeAgent(),
      sessions: sessions.map((session) => session.describe()),
      open: this.#asks.describeOpen(),
      settled: this.#asks.describeSettled(),
    };
    this.#context.link.notify(LINK.snapshot, asJson(snapshot));
    for (const session of sessions)
      this.#context.link.subscribe(session, Object.hasOwn(acked, session.id) ? acked[session.id] : undefined);
  }

  /** R5: what is owed to a dead link is dropped. Its clients' running prompts go on; they were told that the others failed. */
  onLinkDown(now: number = this.#lastNow): void {
    this.#context.link.down();
    this.#linkCalls.clear();
    this.#context.remoteCapabilities = undefined;
    this.#context.answerers = 0;
    this.#clientCount = 0;
    for (const session of this.#context.sessions.values()) {
      session.remoteCount = 0;
      tellAlone(this.#context, session);
      this.#turns.onCallerGone(session, (caller) => !caller.isPrimary, now);
    }
    this.#asks.onLinkDown(now);
  }

  onLinkDrain(): void {
    this.#context.link.onDrain();
  }

  /** One message of the hub. */
  onLink(frame: Frame, now: number): void {
    this.#lastNow = now;
    if (frame.kind === "response") return;
    const params = paramsOf(frame.msg) ?? {};
    if (frame.kind === "notification" && frame.msg.method.startsWith("_acp-hub/link/")) {
      if (frame.msg.method === LINK.gone) this.#lastSeenAt = now;
      return this.#linkControl.on(frame.msg.method, params, now);
    }
    if (frame.kind === "request" && frame.msg.method === ACP.initialize) {
      this.#initializeLink(frame.msg, params);
      return;
    }
    if (frame.kind === "request" && frame.msg.method === LINK.ping) {
      this.#clientCount = numberAt(params, "clients") ?? 0;
      return this.#context.link.respond(frame.msg.id, { result: {} });
    }
    const ours = hubMeta(params);
    const by = readBy(ours?.["by"]);
    if (by === undefined) return this.#refuseLink(frame);
    this.#lastSeenAt = now;
    const caller = { key: by.connectionId, by, isPrimary: false, isOwner: ours?.["isOwner"] === true };
    if (frame.kind === "notification") {
      return this.#requests.onNotification(caller, frame.msg.method, params, this.#linkCalls.values(), now);
    }
    const { id, method } = frame.msg;
    const call: Call = {
      caller,
      id,
      method,
      params,
      isOwed: () => this.#linkCalls.get(id) === call,
      answer: (body) => {
        if (this.#linkCalls.get(id) !== call) return;
        this.#linkCalls.delete(id);
        // The response stands behind the events of the session it opened, or else of the one it is about (B6).
        const opened = "result" in body && isObject(body.result) ? this.#sessionOf(body.result) : undefined;
        this.#context.link.respond(id, body, opened ?? this.#sessionOf(params));
      },
    };
    if (!this.#linkCalls.add(id, call)) return this.#context.ports.observe({ kind: "bad-link-message", method });
    return this.#gone === undefined ? this.#requests.onRequest(call, now) : call.answer(this.#gone);
  }

  /** A message of a client the hub does not name: nobody it could be done for. */
  #refuseLink(frame: Frame & { kind: "request" | "notification" }): void {
    this.#context.ports.observe({ kind: "bad-link-message", method: frame.msg.method });
    if (frame.kind === "request")
      this.#context.link.respond(frame.msg.id, { error: invalidParams("_meta", "must name who asks") });
  }

  /** The bridge's answer to a request it was handed by `serveHost` (S7). False when nobody waits for it. */
  answerHost(id: RpcId, body: AnswerBody, now: number): boolean {
    return this.#hosts.answer(id, body, now);
  }

  /** Output of a terminal the bridge runs, as it comes: its own polls are not told again. */
  onTerminalOutput(session: SessionId, terminalId: string, data: string, now: number): void {
    const live = this.#context.sessions.get(session);
    if (live !== undefined) this.#hosts.terminals.push(live, terminalId, data, now);
  }

  onTimer(name: string, now: number): void {
    this.#lastNow = now;
    if (name === HOLD_TIMER) this.#opens.releaseAll(now);
    else this.#asks.onTimer(name, now);
  }

  #sessionOf(params: JsonObject): RootSession | undefined {
    const id = asSessionId(params);
    return id === undefined ? undefined : this.#context.sessions.get(id);
  }

  #onAgentCancel(params: JsonObject | undefined, now: number): void {
    const id = params?.["requestId"];
    if (typeof id !== "number" && typeof id !== "string") return;
    if (!this.#asks.withdraw(id, now)) this.#hosts.withdraw(id);
  }

  #primaryCall(message: RpcRequest, params: JsonObject): Call {
    const primary = this.#context.primary;
    const call: Call = {
      caller: primary?.caller ?? new Primary().caller,
      id: message.id,
      method: message.method,
      params,
      isOwed: () => primary?.inFlight.get(message.id) === call,
      answer: (body) => {
        if (primary?.inFlight.get(message.id) !== call) return;
        primary.inFlight.delete(message.id);
        if (!primary.isGone) this.#context.ports.toPrimary(bodyText(message.id, body));
      },
    };
    return call;
  }

  /** I1, I2: the editor's own initialize, with capabilities of ours. A second one re-declares the client. */
  #initializePrimary(call: Call): void {
    const { primary } = this.#context;
    if (primary === undefined) return;
    if (typeof call.params["protocolVersion"] !== "number") {
      return call.answer({ error: invalidParams("protocolVersion", "must be a number") });
    }
    primary.hasBegun = true;
    const capabilities = objectAt(call.params, "clientCapabilities");
    primary.capabilities = capabilities;
    primary.abilities = abilitiesOf(capabilities);
    const info = objectAt(call.params, "clientInfo");
    primary.name = stringAt(info, "title") ?? stringAt(info, "name") ?? "editor";
    primary.clientInfo = publicClientInfo(info);
    const version = Math.min(call.params["protocolVersion"], ACP_VERSION);
    const params = withHubMeta({ ...call.params, protocolVersion: version }, undefined);
    return this.#start.primary(params, (body) => {
      if ("result" in body) primary.isInitialized = true;
      else primary.hasBegun = primary.isInitialized;
      call.answer(body);
    });
  }

  #initializeLink(message: RpcRequest, params: JsonObject): void {
    this.#context.remoteCapabilities = objectAt(params, "clientCapabilities") ?? {};
    this.#start.onCapabilitiesChanged();
    this.#context.link.respond(message.id, { result: this.#context.agentInfo ?? null });
  }
}
