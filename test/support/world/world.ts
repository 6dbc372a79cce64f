/**
 * The whole multiplexer in memory, without time or I/O: a scripted agent, an editor, a Root, a link that can be cut, a Mirror and
 * any number of remote clients. Every message waits in a queue until the world delivers it, in turn or in a seeded random order.
 */

import type { ParamsFilter } from "../../../src/core/mirror/gate.ts";
import { Mirror } from "../../../src/core/mirror/mirror.ts";
import type { MirrorObservation, MirrorOptions } from "../../../src/core/mirror/ports.ts";
import type { Observation, RootLimits, RootOptions } from "../../../src/core/root/ports.ts";
import { Root } from "../../../src/core/root/root.ts";
import type { CloseCode } from "../../../src/protocol/close-codes.ts";
import { type Frame, parseFrame } from "../../../src/protocol/envelope.ts";
import { type ConnectionId, epoch, instanceId, interactionId } from "../../../src/protocol/ids.ts";
import type { Json, JsonObject } from "../../../src/protocol/json.ts";
import { HUB_LINK_FEATURES } from "../../../src/protocol/link.ts";
import { AcpClient } from "./acp-client.ts";
import { FakeAgent } from "./fake-agent.ts";
import { seededRandom } from "./random.ts";
import { type Batch, batchEncoder, RemoteClient, type RemoteOptions } from "./remote-client.ts";
import { NamedTimers } from "./timers.ts";
import { Wire } from "./wire.ts";

export interface WorldOptions {
  readonly root?: Partial<RootOptions>;
  readonly mirror?: Partial<MirrorOptions>;
  readonly filter?: ParamsFilter;
  /** The hub is of before it said who may answer and reported first counts of copies, zero too (X3). */
  readonly isOldHub?: boolean;
  /** What the hub sets for its bridges in the welcome. */
  readonly hubLimits?: RootLimits;
  /** Delivers in random order from this seed; otherwise the channels take turns. */
  readonly seed?: number;
  /** Stands before its ids of all kinds, where several worlds meet. */
  readonly name?: string;
  /** A connection that is not of this world is to be closed. */
  readonly onCloseOther?: (id: ConnectionId, code: CloseCode) => void;
}

const ROOT: RootOptions = {
  hasPrimary: true,
  isShared: true,
  seesCapabilitiesLive: false,
  forms: "any",
  workspace: "/work/project",
  version: "0.0.0",
  journalBytes: 4_000_000,
  limits: { agentLineBytes: 1_000_000, lanePromptsMax: 4 },
  heldUpdatesMax: 20,
  heldUpdatesMs: 5000,
};

const MIRROR: MirrorOptions = {
  instanceId: instanceId("i1"),
  hubVersion: "0.0.0",
  journalBytes: 4_000_000,
  watchAfterMs: 1000,
  initializeMs: 10_000,
  pingMs: 30_000,
  askAfterLoadMs: 300,
};

/** More deliveries than any test needs: a loop between two sides would never end. */
const DELIVERIES_MAX = 200_000;

export class World {
  readonly root: Root;
  mirror: Mirror<Batch>;
  readonly agent: FakeAgent;
  readonly primary: AcpClient;
  readonly clients: RemoteClient[] = [];
  readonly timers: NamedTimers = new NamedTimers();
  readonly observed: Observation[] = [];
  readonly mirrorObserved: MirrorObservation[] = [];
  /** Requests the root handed to its host (S7). */
  readonly hosted: {
    readonly request: { readonly id: Json; readonly method: string; readonly params?: Json };
    readonly sessionId: string;
  }[] = [];
  readonly #options: WorldOptions;
  readonly #random: (() => number) | undefined;
  readonly #wires: Wire[] = [];
  readonly #flushes = new Set<"root" | "mirror">();
  #link: { readonly down: Wire; readonly up: Wire; isUpAtRoot: boolean } | undefined;
  #minted = 0;
  #turn = 0;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.#random = options.seed === undefined ? undefined : seededRandom(options.seed);
    const toAgent = this.#wire("agent in", (text) => this.agent.onText(text));
    const fromAgent = this.#wire("agent out", (text) =>
      this.#parsed(text, (frame) => this.root.onAgent(frame, this.now)),
    );
    const toPrimary = this.#wire("primary in", (text) => this.primary.onText(text));
    const fromPrimary = this.#wire("primary out", (text) => this.#fromPrimary(text));
    this.agent = new FakeAgent((text) => fromAgent.push(text), options.name ?? "");
    this.primary = new AcpClient("primary", (text) => fromPrimary.push(text));
    this.root = this.#makeRoot(
      (text) => toAgent.push(text),
      (text) => toPrimary.push(text),
    );
    this.mirror = this.#makeMirror();
  }

  get now(): number {
    return this.timers.now;
  }

  get isLinked(): boolean {
    return this.#link?.isUpAtRoot === true;
  }

  /** What the root wrote and the hub has not read. */
  get linkDown(): Wire | undefined {
    return this.#link?.down;
  }

  /** Dials: the hub welcomes the bridge with what it holds; the bridge begins when the welcome is there. */
  dial(): this {
    if (this.#link !== undefined) throw new Error("the link is up already");
    const down = this.#wire(
      "link down",
      (text) => this.#parsed(text, (frame) => this.mirror.onLink(frame)),
      () => {
        if (link.isUpAtRoot) this.root.onLinkDrain();
      },
    );
    const up = this.#wire("link up", (text) => this.#fromHub(text));
    const link = { down, up, isUpAtRoot: false };
    this.#link = link;
    up.push(JSON.stringify({ welcome: this.mirror.acked() }));
    this.mirror.onLinkUp();
    return this;
  }

  /** The hub stops reading, or goes on. */
  stallLink(isStalled: boolean): void {
    const link = this.#link;
    if (link === undefined) return;
    link.down.isStalled = isStalled;
    if (!isStalled && link.isUpAtRoot && link.down.waiting.length === 0) this.root.onLinkDrain();
  }

  /** Cuts the link: what is on its way is lost. */
  cut(): void {
    const link = this.#link;
    if (link === undefined) return;
    this.#link = undefined;
    link.down.cut();
    link.up.cut();
    this.#forget(link.down, link.up);
    if (link.isUpAtRoot) this.root.onLinkDown(this.now);
    this.mirror.onLinkDown();
  }

  /** The hub dies and starts anew: nothing of its memory is left. */
  restartHub(): void {
    this.cut();
    for (const client of [...this.clients]) this.#disconnect(client);
    this.mirror = this.#makeMirror();
  }

  /** A remote client whose socket is open. It has not initialized. */
  connect(options: RemoteOptions = {}): RemoteClient {
    const id = this.#newId("c");
    const client = new RemoteClient(id, options, (from, text) => this.#fromClient(from, text));
    client.onHopeless = () => this.disconnect(client);
    this.#wires.push(client.down, client.up);
    this.clients.push(client);
    this.mirror.add(client.connection);
    return client;
  }

  /** A remote client that has initialized. */
  remote(options: RemoteOptions = {}): RemoteClient {
    const client = this.connect(options);
    client.request("initialize", { protocolVersion: 1, clientCapabilities: client.capabilities });
    this.settle();
    return client;
  }

  disconnect(client: RemoteClient): void {
    if (this.#disconnect(client)) this.mirror.remove(client.connection);
  }

  /** Delivers everything that can be delivered. */
  settle(): this {
    for (let count = 0; this.step(); count += 1) {
      if (count > DELIVERIES_MAX) throw new Error("the world does not come to rest");
    }
    return this;
  }

  /** Delivers one message, or ends one tick. False at rest. */
  step(): boolean {
    const ready = this.#wires.filter((wire) => wire.canDeliver);
    if (this.#random !== undefined) {
      const at = Math.floor(this.#random() * (ready.length + this.#flushes.size));
      if (at < ready.length) ready[at]?.deliver();
      else return this.#flushOne();
      return true;
    }
    const next = ready[this.#turn % Math.max(1, ready.length)];
    this.#turn += 1;
    if (next === undefined) return this.#flushOne();
    next.deliver();
    // In turn, a tick is one message: the next one is a burst's business.
    this.#flushOne();
    return true;
  }

  /** Moves time on; timers due fire in order, and everything they cause happens. */
  advance(ms: number): this {
    const end = this.now + ms;
    this.settle();
    while (this.timers.fireNext(end)) this.settle();
    this.timers.now = end;
    return this.settle();
  }

  /** The editor initializes and the link comes up: how almost every test begins. */
  start(capabilities: JsonObject = {}): this {
    this.primary.request("initialize", {
      protocolVersion: 1,
      clientInfo: { name: "editor", version: "1" },
      clientCapabilities: capabilities,
    });
    this.settle();
    if (this.#link === undefined) this.dial();
    return this.settle();
  }

  /** A session the editor opens. */
  newSession(cwd = "/work/project"): string {
    const id = this.primary.request("session/new", { cwd, mcpServers: [] });
    this.settle();
    return String(this.primary.result(id)["sessionId"]);
  }

  load(client: AcpClient, sessionId: string, ours?: JsonObject): JsonObject {
    const id = this.sendLoad(client, sessionId, ours);
    this.settle();
    return client.result(id);
  }

  sendLoad(client: AcpClient, sessionId: string, ours?: JsonObject, method = "session/load"): Json {
    const meta = ours === undefined ? {} : { _meta: { "acp-hub": ours } };
    return client.request(method, { sessionId, cwd: "/work/project", mcpServers: [], ...meta });
  }

  /** Sends a prompt and lets it arrive; returns its id at that client. */
  prompt(client: AcpClient, sessionId: string, text: string, ours?: JsonObject): Json {
    const meta = ours === undefined ? {} : { _meta: { "acp-hub": ours } };
    const id = client.request("session/prompt", { sessionId, prompt: [{ type: "text", text }], ...meta });
    this.settle();
    return id;
  }

  /** What went wrong anywhere; empty in every sane world. */
  get problems(): readonly string[] {
    const all = [...this.clients, this.primary].flatMap((client) =>
      client.problems.map((problem) => `${client.name}: ${problem}`),
    );
    return [...all, ...this.agent.problems.map((problem) => `agent: ${problem}`)];
  }

  #newId(kind: string): string {
    return `${this.#options.name ?? ""}${kind}${this.#minted++}`;
  }

  #makeRoot(toAgent: (text: string) => void, toPrimary: (text: string) => void): Root {
    return new Root(
      {
        toAgent,
        toPrimary,
        startTimer: (name, ms) => this.timers.start(`root:${name}`, ms, () => this.root.onTimer(name, this.now)),
        cancelTimer: (name) => this.timers.cancel(`root:${name}`),
        requestFlush: () => this.#flushes.add("root"),
        observe: (observation) => this.observed.push(observation),
        serveHost: (request, session) => this.hosted.push({ request, sessionId: session.id }),
        mint: {
          interactionId: () => interactionId(this.#newId("x")),
          epoch: () => epoch(this.#newId("e")),
          messageId: () => this.#newId("m"),
          promptId: () => this.#newId("q"),
        },
      },
      { ...ROOT, ...this.#options.root },
    );
  }

  #makeMirror(): Mirror<Batch> {
    return new Mirror<Batch>(
      {
        toLink: (text) => this.#toLink(text),
        startTimer: (name, ms) => this.timers.start(`mirror:${name}`, ms, () => this.mirror.onTimer(name)),
        cancelTimer: (name) => this.timers.cancel(`mirror:${name}`),
        requestFlush: () => this.#flushes.add("mirror"),
        close: (id, code) => {
          const client = this.clients.find((each) => each.id === id);
          if (client === undefined) return this.#options.onCloseOther?.(id, code);
          client.closedWith = code;
          this.disconnect(client);
          return undefined;
        },
        observe: (observation) => this.mirrorObserved.push(observation),
      },
      { ...MIRROR, ...this.#options.mirror },
      batchEncoder,
      this.#options.filter ?? ((_method, params) => ({ ok: true, params, ignored: [] })),
    );
  }

  #toLink(text: string): void {
    const { method, params } = JSON.parse(text) as { method?: string; params?: { open?: number } };
    const isNew = method === "_acp-hub/link/answerers" || (method === "_acp-hub/link/copies" && params?.open === 0);
    if (this.#options.isOldHub !== true || !isNew) this.#link?.up.push(text);
  }

  #fromHub(text: string): void {
    const link = this.#link;
    const message = JSON.parse(text) as { welcome?: JsonObject };
    if (link === undefined) return;
    if (message.welcome === undefined) this.#parsed(text, (frame) => this.root.onLink(frame, this.now));
    else {
      link.isUpAtRoot = true;
      const write = (encoded: string): void => {
        for (const line of encoded.split("\n")) link.down.push(line);
      };
      const sink = { write, buffered: () => (link.down.isStalled ? 2_000_000 : 0) };
      const features = this.#options.isOldHub === true ? [] : HUB_LINK_FEATURES;
      this.root.onLinkUp(
        sink,
        message.welcome,
        undefined,
        { features, limits: this.#options.hubLimits ?? {} },
        this.now,
      );
    }
  }

  #fromClient(client: RemoteClient, text: string): void {
    const parsed = parseFrame(text);
    if (parsed.ok) this.mirror.onClient(client.connection, parsed.frame, this.now);
    else client.connection.outbox.send(JSON.stringify(parsed.reply));
  }

  #fromPrimary(text: string): void {
    const parsed = parseFrame(text);
    if (parsed.ok) this.root.onPrimary(parsed.frame, this.now);
    else this.root.refusePrimary(parsed.reply);
  }

  #parsed(text: string, take: (frame: Frame) => void): void {
    const parsed = parseFrame(text);
    if (parsed.ok) take(parsed.frame);
  }

  #flushOne(): boolean {
    const [which] = this.#flushes;
    if (which === undefined) return false;
    this.#flushes.delete(which);
    if (which === "root") this.root.flush();
    else this.mirror.flush();
    return true;
  }

  #wire(name: string, receive: (text: string) => void, onEmpty?: () => void): Wire {
    const wire = new Wire(name, receive, onEmpty);
    this.#wires.push(wire);
    return wire;
  }

  #forget(...wires: readonly Wire[]): void {
    for (const wire of wires) this.#wires.splice(this.#wires.indexOf(wire), 1);
  }

  #disconnect(client: RemoteClient): boolean {
    const at = this.clients.indexOf(client);
    if (at < 0) return false;
    this.clients.splice(at, 1);
    client.down.cut();
    client.up.cut();
    this.#forget(client.down, client.up);
    client.connection.isGone = true;
    client.connection.outbox.close();
    return true;
  }
}
