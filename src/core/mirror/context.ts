/** What the mirror's modules share. */
import { notification } from "../../protocol/envelope.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
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
  readonly #dirty = new Set<MirrorSession<Encoded>>();

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
    if (this.#dirty.size === 0) this.ports.requestFlush();
    this.#dirty.add(session);
  }

  flush(): void {
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    for (const session of dirty) session.feed.flush();
  }
}
