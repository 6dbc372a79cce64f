/**
 * The root multiplexer: one agent, the editor and the link (semantics R). Inputs are methods, effects are calls on the ports;
 * nothing here waits, and no port calls back synchronously.
 *
 * Ro1 What decides, decides here: numbering, lane, echo, turn notices, settling (R1).
 * Ro2 The editor is served as without us: its bytes go on untouched, and nothing of the hub can delay or fail it.
 * Ro3 Whatever a peer sends gets a defined answer; a message that means nothing is counted and dropped.
 */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, paramsOf, type RpcFailure, type RpcId } from "../../protocol/envelope.ts";
import { hubError, RPC } from "../../protocol/errors.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Sink } from "../fanout/outbox.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { AgentStart } from "./agent-start.ts";
import { Asks } from "./asks.ts";
import { RootContext } from "./context.ts";
import { Ending } from "./ending.ts";
import { HOLD_TIMER } from "./holds.ts";
import { HostRequests } from "./host-requests.ts";
import { LinkControl } from "./link-control.ts";
import { LinkInput } from "./link-input.ts";
import { Listing } from "./listing.ts";
import { Loads } from "./loads.ts";
import { Opens } from "./opens.ts";
import type { LinkedHub, RootOptions, RootPorts } from "./ports.ts";
import { PrimaryInput } from "./primary-input.ts";
import { Publisher } from "./publisher.ts";
import { Requests } from "./requests.ts";
import { Setters } from "./setters.ts";
import { TerminalMirror } from "./terminal-mirror.ts";
import { Turns } from "./turns.ts";
import { AgentUpdates } from "./updates.ts";

export class Root {
  readonly #context: RootContext;
  readonly #start: AgentStart;
  readonly #asks: Asks;
  readonly #turns: Turns;
  readonly #opens: Opens;
  readonly #hosts: HostRequests;
  readonly #updates: AgentUpdates;
  readonly #fromPrimary: PrimaryInput;
  readonly #fromLink: LinkInput;
  #lastNow = 0;

  constructor(ports: RootPorts, options: RootOptions) {
    const context = new RootContext(ports, options);
    this.#context = context;
    const publisher = new Publisher(context);
    this.#asks = new Asks(context, publisher);
    this.#turns = new Turns(context, publisher, this.#asks);
    const setters = new Setters(context, publisher);
    this.#opens = new Opens(context, publisher, (session, frame, now) => this.#updates.deliver(session, frame, now));
    const ending = new Ending(context, this.#asks, this.#turns, setters);
    const loads = new Loads(context, this.#opens, {
      end: (session, reason, now) => ending.end(session, reason, now),
      askPrimary: (session, hasHistory) => this.#asks.onPrimaryLoaded(session, hasHistory),
    });
    this.#hosts = new HostRequests(context, new TerminalMirror(publisher));
    this.#updates = new AgentUpdates(context, publisher, {
      turns: this.#turns,
      setters,
      opens: this.#opens,
      loads,
      asks: this.#asks,
      hosts: this.#hosts,
    });
    this.#start = new AgentStart(context);
    const listing = new Listing(context);
    const requests = new Requests(context, {
      turns: this.#turns,
      opens: this.#opens,
      loads,
      ending,
      setters,
      listing,
    });
    const shared = { start: this.#start, requests, asks: this.#asks, turns: this.#turns };
    this.#fromPrimary = new PrimaryInput(context, { ...shared, hosts: this.#hosts, opens: this.#opens });
    const control = new LinkControl(context, this.#asks, this.#turns);
    this.#fromLink = new LinkInput(context, { ...shared, control });
  }

  /** The live sessions, for the hello: a hub that has just started says what it kept of them. */
  liveEpochs(): { sessionId: string; epoch: string; cwd: string }[] {
    return [...this.#context.sessions.values()].map(({ id, epoch, cwd }) => ({ sessionId: id, epoch, cwd }));
  }

  /** Somebody is there or something goes on: a headless bridge does not end meanwhile (L6). */
  get isBusy(): boolean {
    if (this.#fromLink.clientCount > 0 || this.#asks.openCount > 0) return true;
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
    return this.#fromLink.lastSeenAt;
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
    this.#context.agentEnd = { error };
    this.#hosts.onAgentGone();
    this.#asks.abandonAll(now);
    for (const session of this.#context.sessions.values()) this.#turns.endWaiting(session, { error });
    this.#start.onAgentGone({ error });
    this.#context.agent.failAll({ error }, now);
    this.#context.flush();
  }

  /** One message of the editor. */
  onPrimary(frame: Frame, now: number): void {
    this.#lastNow = now;
    this.#fromPrimary.on(frame, now);
  }

  /** Junk on the editor's pipe gets the refusal the parser made (T1). */
  refusePrimary(refusal: RpcFailure): void {
    this.#fromPrimary.refuse(refusal);
  }

  /** The editor has closed its pipe. The shell ends the agent next (L1). */
  onPrimaryGone(now: number = this.#lastNow): void {
    this.#fromPrimary.onGone(now);
  }

  /**
   * A hub answered the hello. `onHopeless` is called once when the hub reads so slowly that the link should be dropped and dialled
   * anew; without it there is no such bound. `hub`: what the hub said it does, and the limits it sets.
   */
  onLinkUp(
    sink: Sink<string>,
    acked: JsonObject,
    onHopeless?: () => void,
    hub: LinkedHub = {},
    now: number = this.#lastNow,
  ): void {
    this.#fromLink.up(sink, acked, onHopeless, hub, now);
  }

  onLinkDown(now: number = this.#lastNow): void {
    this.#fromLink.down(now);
  }

  onLinkDrain(): void {
    this.#context.link.onDrain();
  }

  /** One message of the hub. */
  onLink(frame: Frame, now: number): void {
    this.#lastNow = now;
    this.#fromLink.on(frame, now);
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

  #onAgentCancel(params: JsonObject | undefined, now: number): void {
    const id = params?.["requestId"];
    if (typeof id !== "number" && typeof id !== "string") return;
    if (!this.#asks.withdraw(id, now)) this.#hosts.withdraw(id);
  }
}
