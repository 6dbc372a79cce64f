/** What the mirror's modules share. */
import { notification } from "../../protocol/envelope.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { LinkPrimary } from "../../protocol/link.ts";
import type { Encoder } from "../fanout/feed.ts";
import type { Connection } from "./connection.ts";
import type { MirrorHistory, MirrorOptions, MirrorPorts } from "./ports.ts";
import type { MirrorSession } from "./session.ts";

export class MirrorContext<Encoded> {
  readonly ports: MirrorPorts;
  readonly options: MirrorOptions;
  readonly encoder: Encoder<Encoded>;
  /** Connections in scope of this instance, initialized or not. */
  readonly connections: Set<Connection<Encoded>> = new Set();
  readonly sessions: Map<SessionId, MirrorSession<Encoded>> = new Map();
  /** Sessions of before, where the hub keeps any. */
  readonly history: MirrorHistory<Encoded> | undefined;
  isLinkUp = false;
  /** The agent's initialize result; undefined until the bridge told it. */
  agentInfo: JsonObject | undefined;
  /** The editor, once the bridge told who it is. */
  primary: LinkPrimary | undefined;
  readonly #dirty = new Set<MirrorSession<Encoded>>();
  /** Called at the end of a tick for sessions whose readers have changed. */
  onPresence: (session: MirrorSession<Encoded>) => void = () => undefined;
  readonly #presence = new Set<MirrorSession<Encoded>>();
  #isFlushRequested = false;

  constructor(
    ports: MirrorPorts,
    options: MirrorOptions,
    encoder: Encoder<Encoded>,
    history: MirrorHistory<Encoded> | undefined,
  ) {
    this.history = history;
    this.ports = ports;
    this.options = options;
    this.encoder = encoder;
  }

  /** A notification to the bridge; dropped while the link is down (R5). */
  notifyLink(method: string, params: JsonObject): void {
    if (this.isLinkUp) this.ports.toLink(JSON.stringify(notification(method, params)));
  }

  markDirty(session: MirrorSession<Encoded>): void {
    this.#requestFlush();
    this.#dirty.add(session);
  }

  /** Who reads `session` has changed: told once per tick, however many came. */
  markPresence(session: MirrorSession<Encoded>): void {
    this.#requestFlush();
    this.#presence.add(session);
  }

  #requestFlush(): void {
    if (this.#isFlushRequested) return;
    this.#isFlushRequested = true;
    this.ports.requestFlush();
  }

  flush(): void {
    this.#isFlushRequested = false;
    const changed = [...this.#presence];
    this.#presence.clear();
    for (const session of changed) if (this.sessions.get(session.id) === session) this.onPresence(session);
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    for (const session of dirty) session.feed.flush();
  }
}
