/** What the bridge says over the link: snapshot, sessions, numbered events, interactions (contract §7). */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, paramsOf } from "../../protocol/envelope.ts";
import { HUB, type QueueEntry, type SettledNotice, type TurnState } from "../../protocol/hub-methods.ts";
import { connectionId, sessionId } from "../../protocol/ids.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { LINK, type LinkSession } from "../../protocol/link.ts";
import { hubMeta, readStamp, type Stamp, withHubMeta } from "../../protocol/meta.ts";
import type { JournalItem } from "../journal/item.ts";
import { itemOf } from "../journal/item.ts";
import type { Attachments } from "./attach.ts";
import type { MirrorContext } from "./context.ts";
import type { Copies } from "./copies.ts";
import { MirrorSession } from "./session.ts";

type Notification = Frame & { readonly kind: "notification" };

export class LinkEvents<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #attachments: Attachments<Encoded>;
  readonly #copies: Copies<Encoded>;
  readonly #onAgent: () => void;

  constructor(
    context: MirrorContext<Encoded>,
    attachments: Attachments<Encoded>,
    copies: Copies<Encoded>,
    onAgent: () => void,
  ) {
    this.#context = context;
    this.#attachments = attachments;
    this.#copies = copies;
    this.#onAgent = onAgent;
  }

  onNotification(frame: Notification): void {
    const params = paramsOf(frame.msg);
    const { method } = frame.msg;
    const stamp = readStamp(params);
    const session = this.#session(params);
    if (params !== undefined && stamp !== undefined && session !== undefined)
      return this.#onEvent(session, method, params, stamp, frame.text);
    if (params !== undefined && method.startsWith("_acp-hub/")) return this.#onControl(method, params);
    return this.#passThrough(frame.text, session);
  }

  /** The state of a bridge that dialled: what it does not name is gone (R4). */
  onSnapshot(params: JsonObject): void {
    this.#setAgent(params["initialize"]);
    const named = new Set<string>();
    for (const session of arrayAt(params, "sessions") ?? []) {
      if (!isObject(session)) continue;
      named.add(stringAt(session, "sessionId") ?? "");
      this.#onSession(session);
    }
    for (const session of [...this.#context.sessions.values()])
      if (!named.has(session.id)) this.#onGone(session, "closed");
    const open = (arrayAt(params, "open") ?? []).filter(isObject);
    const settled = (arrayAt(params, "settled") ?? []).filter(isObject) as unknown as SettledNotice[];
    this.#copies.reconcile(new Set(open.map((entry) => stringAt(entry, "interactionId") ?? "")), settled);
    for (const entry of open) this.#copies.onInteraction(entry);
    this.#attachments.reportAll();
  }

  #onControl(method: string, params: JsonObject): void {
    switch (method) {
      case LINK.snapshot:
        return this.onSnapshot(params);
      case LINK.agent:
        return this.#setAgent(params["initialize"]);
      case LINK.session:
        return this.#onSession(params);
      case LINK.sessionGone: {
        const session = this.#session(params);
        if (session !== undefined) this.#onGone(session, "closed");
        return undefined;
      }
      case LINK.interaction:
        return this.#copies.onInteraction(params);
      case LINK.rejected:
        return this.#copies.onRejected(params);
      case HUB.interactionSettled:
        return this.#onSettled(undefined, params as unknown as SettledNotice);
      default:
        return this.#context.ports.observe({ kind: "bad-link-message", method });
    }
  }

  #session(params: JsonObject | undefined): MirrorSession<Encoded> | undefined {
    const id = stringAt(params, "sessionId");
    return id === undefined ? undefined : this.#context.sessions.get(sessionId(id));
  }

  #setAgent(result: unknown): void {
    if (!isObject(result)) return;
    this.#context.agentInfo = result;
    this.#onAgent();
  }

  #onSession(params: JsonObject): void {
    const info = params as unknown as LinkSession;
    const known = this.#session(params);
    if (known !== undefined && known.epoch === info.epoch && !this.#mustStartOver(known, info)) {
      known.info = info;
      known.journal.limitExactness(0, info.whole);
      this.#context.ports.record?.onSession(info);
      this.#context.ports.observe({ kind: "sessions-changed" });
      return;
    }
    const session = new MirrorSession<Encoded>(info, this.#context.encoder, this.#context.options.journalBytes);
    // Of an epoch an earlier hub knew, its record is continued; the root sends what is missing (L2).
    const restored = known === undefined ? this.#context.ports.record?.restore(info) : undefined;
    if (restored !== undefined && restored.tail >= info.head && restored.tail <= info.tail) session.restore(restored);
    this.#context.sessions.set(session.id, session);
    this.#context.ports.record?.onSession(info);
    if (known !== undefined) this.#attachments.moveReaders(known, session, info.reason ?? "new-epoch");
    this.#attachments.onSession(session);
    this.#context.ports.observe({ kind: "sessions-changed" });
  }

  /** The root has coalesced past what we hold: its copy is taken anew. */
  #mustStartOver(known: MirrorSession<Encoded>, info: LinkSession): boolean {
    return known.journal.tail < info.head;
  }

  #onGone(session: MirrorSession<Encoded>, reason: "closed" | "instance-gone"): void {
    session.feed.flush();
    this.#context.sessions.delete(session.id);
    this.#context.ports.record?.onSessionGone(session.info);
    this.#attachments.dropReaders(session, reason);
    this.#context.ports.observe({ kind: "sessions-changed" });
  }

  /** B1: into the journal, then to every reader, in the root's order. */
  #onEvent(session: MirrorSession<Encoded>, method: string, params: JsonObject, stamp: Stamp, text: string): void {
    if (stamp.epoch !== session.epoch) return;
    const item = readItem(method, params, stamp);
    session.journal.put(item, text.length);
    this.#context.ports.record?.onEvent(session.info, item);
    session.updatedAt = stamp.ts;
    if (method === ACP.sessionUpdate) session.noteCard(params);
    // Below the tail: merged ones of a root that starts over; they are history, not news.
    const isHistory = stamp.replay === true || stamp.seq < session.journal.tail;
    if (isHistory) session.baselineTail = session.journal.tail;
    else {
      const except = exceptOf(method, params, stamp);
      const isNotice = method === HUB.turn || method === HUB.interactionSettled;
      session.feed.publish({
        seq: stamp.seq,
        text,
        audience: isNotice ? "extended" : "all",
        ...(except !== undefined && { except: connectionId(except) }),
      });
      this.#context.markDirty(session);
      if (isNotice) this.#tellOthers(session, text);
    }
    if (method === HUB.turn) this.#onTurn(session, params);
    if (method === HUB.interactionSettled) this.#onSettled(session, params as unknown as SettledNotice);
    session.settleReady();
  }

  /** B1: notices go to all in scope, attached or not. */
  #tellOthers(session: MirrorSession<Encoded>, text: string): void {
    for (const connection of this.#context.connections) {
      if (!connection.isInitialized || !connection.abilities.isExtended || connection.outbox.isSubscribed(session.feed))
        continue;
      connection.outbox.send(text);
    }
  }

  #onTurn(session: MirrorSession<Encoded>, params: JsonObject): void {
    const turn = (stringAt(params, "state") ?? "idle") as TurnState;
    const queue = (arrayAt(params, "queue") ?? []) as unknown as readonly QueueEntry[];
    const promptId = stringAt(params, "promptId");
    const { promptId: _old, turnBy: _oldBy, ...rest } = session.info;
    session.info = { ...rest, turn, queue, ...(turn !== "idle" && promptId !== undefined && { promptId }) };
    this.#context.ports.observe({ kind: "sessions-changed" });
  }

  #onSettled(session: MirrorSession<Encoded> | undefined, notice: SettledNotice): void {
    if (session === undefined) {
      // Of no session: told to everyone who understands it.
      for (const connection of this.#context.connections) {
        if (connection.isInitialized && connection.abilities.isExtended) {
          connection.outbox.send(JSON.stringify({ jsonrpc: "2.0", method: HUB.interactionSettled, params: notice }));
        }
      }
    }
    this.#copies.onSettled(notice);
    this.#context.ports.observe({ kind: "settled", notice });
  }

  /** What belongs to no session names its instance where a client sees several (contract §4). */
  #withInstance(text: string): string {
    const message: unknown = JSON.parse(text);
    if (!isObject(message)) return text;
    const params = paramsOf(message) ?? {};
    const meta = { ...hubMeta(params), instance: this.#context.options.instanceId };
    return JSON.stringify({ ...message, params: withHubMeta(params, meta) });
  }

  /** B7: what nobody knows goes to everyone as it came, in its place. */
  #passThrough(text: string, session: MirrorSession<Encoded> | undefined): void {
    for (const connection of this.#context.connections) {
      if (!connection.isInitialized) continue;
      if (session === undefined) connection.outbox.send(connection.isHubWide ? this.#withInstance(text) : text);
      else if (connection.outbox.isSubscribed(session.feed)) connection.outbox.send(text, session.feed);
    }
  }
}

/** The journal's item of an event of the link: joined text comes with its piece lengths (J4). */
function readItem(method: string, params: JsonObject, stamp: Stamp): JournalItem {
  const { by, promptId, synthetic } = stamp;
  const marks = {
    ...(by !== undefined && { by }),
    ...(promptId !== undefined && { promptId }),
    ...(synthetic !== undefined && { synthetic }),
  };
  const item = itemOf(stamp.seq, stamp.ts, method, withHubMeta(params, undefined), marks);
  if (stamp.from === undefined) return item;
  const pieces = (arrayAt(hubMeta(params), "pieces") ?? []).filter((piece) => typeof piece === "number");
  const isExact = item.run !== undefined && pieces.length === stamp.seq - stamp.from + 1;
  return {
    ...item,
    first: stamp.from,
    ...(item.run !== undefined && { run: { ...item.run, pieces: isExact ? pieces : [] } }),
  };
}

/** Who does not get this event: the author of an echo (B3), the setter of a synthesised update (S6). */
function exceptOf(method: string, params: JsonObject, stamp: Stamp): string | undefined {
  if (stamp.except !== undefined) return stamp.except;
  if (stamp.by === undefined || method !== ACP.sessionUpdate) return undefined;
  const update = objectAt(params, "update");
  return update?.["sessionUpdate"] === "user_message_chunk" ? stamp.by.connectionId : undefined;
}
