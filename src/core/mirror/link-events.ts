/** What the bridge says over the link: snapshot, sessions, numbered events, interactions (contract §7). */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, notification, paramsOf } from "../../protocol/envelope.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { connectionId, sessionId } from "../../protocol/ids.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { LINK, type LinkPrimary, type LinkSession } from "../../protocol/link.ts";
import { hubMeta, readBy, type Stamp, withHubMeta } from "../../protocol/meta.ts";
import { readQueue, readSettledNotice, readTurnState } from "../../protocol/notices.ts";
import { audienceOf, substituteFor } from "../audience.ts";
import { itemText } from "../journal/frames.ts";
import type { Attachments } from "./attach.ts";
import type { MirrorContext } from "./context.ts";
import type { Copies } from "./copies.ts";
import { tellTurnState } from "./dialect.ts";
import { tellPromptReceived, tellResolved, tellTurnComplete } from "./draft-attach.ts";
import { readEventStamp, readItem, readLinkSession } from "./link-reading.ts";
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
    const stamp = readEventStamp(params);
    const session = this.#session(params);
    if (params !== undefined && stamp !== undefined && session !== undefined)
      return this.#onEvent(session, method, params, stamp, frame.text);
    if (method.startsWith("_acp-hub/")) return this.#onControl(method, params ?? {});
    // Numbered in a way we cannot read, or of a session we do not hold: there is nobody it could go to.
    if (hubMeta(params) !== undefined) return this.#context.ports.observe({ kind: "bad-link-message", method });
    return this.#passThrough(frame.text, method, params, session);
  }

  /** The state of a bridge that dialled: what it does not name is gone (R4). */
  onSnapshot(params: JsonObject): void {
    this.#setAgent(params);
    const named = new Set<string>();
    for (const session of (arrayAt(params, "sessions") ?? []).filter(isObject)) {
      const info = readLinkSession(session);
      if (info === undefined) continue;
      named.add(info.sessionId);
      this.#onSession(info);
    }
    const open = (arrayAt(params, "open") ?? []).filter(isObject);
    const settled = (arrayAt(params, "settled") ?? [])
      .filter(isObject)
      .flatMap((entry) => readSettledNotice(entry) ?? []);
    this.#copies.reconcile(new Set(open.map((entry) => stringAt(entry, "interactionId") ?? "")), settled);
    for (const session of [...this.#context.sessions.values()])
      if (!named.has(session.id)) this.#onGone(session, "closed");
    for (const entry of open) this.#copies.onInteraction(entry);
    this.#attachments.reportAll();
  }

  #onControl(method: string, params: JsonObject): void {
    switch (method) {
      case LINK.snapshot:
        return this.onSnapshot(params);
      case LINK.agent:
        return this.#setAgent(params);
      case LINK.session: {
        const info = readLinkSession(params);
        if (info === undefined) return this.#context.ports.observe({ kind: "bad-link-message", method });
        return this.#onSession(info);
      }
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
        return this.#onVerdict(params);
      default:
        return this.#context.ports.observe({ kind: "bad-link-message", method });
    }
  }

  #session(params: JsonObject | undefined): MirrorSession<Encoded> | undefined {
    const id = stringAt(params, "sessionId");
    return id === undefined ? undefined : this.#context.sessions.get(sessionId(id));
  }

  #setAgent(params: JsonObject): void {
    const result = params["initialize"];
    const primary = objectAt(params, "primary");
    const name = stringAt(primary, "name");
    const extended = primary?.["extended"] === true;
    if (name !== undefined) this.#setPrimary({ name, client: primary?.["client"] ?? null, extended });
    if (!isObject(result)) return;
    this.#context.agentInfo = result;
    this.#onAgent();
  }

  #setPrimary(primary: LinkPrimary): void {
    const before = this.#context.primary;
    this.#context.primary = primary;
    if (before === undefined || JSON.stringify(before) === JSON.stringify(primary)) return;
    for (const session of this.#context.sessions.values()) this.#context.markPresence(session);
  }

  #onSession(info: LinkSession): void {
    const known = this.#context.sessions.get(sessionId(info.sessionId));
    if (known !== undefined && known.epoch === info.epoch && !this.#mustStartOver(known, info)) {
      if (known.info.primary !== info.primary) this.#context.markPresence(known);
      known.describe(info);
      this.#context.ports.record?.onSession(info);
      this.#context.ports.observe({ kind: "sessions-changed" });
      return;
    }
    const { journalBytes, tailBytes } = this.#context.options;
    const session = new MirrorSession<Encoded>(info, this.#context.encoder, journalBytes, tailBytes);
    // Of an epoch an earlier hub knew, its record is continued; the root sends what is missing (L2).
    const restored = known === undefined ? this.#context.ports.record?.restore(info) : undefined;
    if (known === undefined) session.rememberLine(this.#context.ports.record?.lastLine(info));
    if (restored !== undefined && restored.tail >= info.head && restored.tail <= info.tail) session.restore(restored);
    // What comes of a journal that has shrunk is merged: no cursor inside it can be served.
    else session.journal.limitExactness(info.head, info.whole);
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
    this.#copies.forgetSession(session);
    this.#context.sessions.delete(session.id);
    this.#context.ports.record?.onSessionGone(session.info, session.lastLine);
    this.#attachments.dropReaders(session, reason);
    this.#context.ports.observe({ kind: "sessions-changed" });
  }

  /** B1: into the journal, then to every reader, in the root's order. */
  #onEvent(session: MirrorSession<Encoded>, method: string, params: JsonObject, stamp: Stamp, text: string): void {
    if (stamp.epoch !== session.epoch) return;
    const before = session.journal.tail;
    const item = readItem(method, params, stamp);
    const isBaseline = stamp.replay === true || item.last <= session.baselineTail;
    // Numbers come once: only what a root tells of a journal that has shrunk overlaps.
    if (item.last <= before && !isBaseline) return this.#context.ports.observe({ kind: "bad-link-message", method });
    session.journal.put(item, text.length);
    session.updatedAt = stamp.ts;
    if (method === ACP.sessionUpdate) session.noteUpdate(params, item);
    if (isBaseline) session.baselineTail = Math.max(session.baselineTail, item.last);
    else {
      // Joined text carries piece lengths on the link; clients get it without.
      const shown = stamp.from === undefined ? text : itemText(item, session.epoch);
      this.#publish(session, method, params, stamp, item.first, shown);
    }
    // Behind what makes it go out: the live path waits for no record.
    this.#context.ports.record?.onEvent(session.info, item);
    if (method === HUB.turn) this.#onTurn(session, params, stamp.ts, !isBaseline);
    else if (method === HUB.interactionSettled) this.#onSettled(session, params, !isBaseline);
    else if (!isBaseline && stamp.by !== undefined && isEcho(method, params))
      tellPromptReceived(session, params, stamp.by);
    session.settleReady();
    return undefined;
  }

  #publish(
    session: MirrorSession<Encoded>,
    method: string,
    params: JsonObject,
    stamp: Stamp,
    first: number,
    text: string,
  ): void {
    const except = exceptOf(method, params, stamp);
    const { seq } = stamp;
    const audience = audienceOf(method, params);
    const isForExtended = audience === "extended";
    const otherwise = audience === "all" ? undefined : otherwiseText(method, params);
    if (except === undefined && otherwise === undefined) session.feed.publish({ seq, first, text, audience });
    else
      session.feed.publish({
        seq,
        first,
        text,
        audience,
        ...(otherwise !== undefined && { otherwise }),
        ...(except !== undefined && { except: connectionId(except) }),
      });
    this.#context.markDirty(session);
    if (isForExtended) this.#tellOthers(session, text);
  }

  /** B1: notices go to all in scope, attached or not. */
  #tellOthers(session: MirrorSession<Encoded>, text: string): void {
    for (const connection of this.#context.connections) {
      if (!connection.isInitialized || !connection.abilities.isExtended || connection.outbox.isSubscribed(session.feed))
        continue;
      // Who may turn out to watch gets everything in its place, a little later.
      if (!this.#attachments.isUndecided(connection)) connection.outbox.send(text);
    }
  }

  #onTurn(session: MirrorSession<Encoded>, params: JsonObject, at: number, isNews: boolean): void {
    const { promptId: _id, turnBy: _by, ...rest } = session.info;
    const turn = readTurnState(params["state"]);
    const described = { ...rest, turn, queue: readQueue(params) };
    const stopReason = stringAt(params, "stopReason");
    const isEnd = stopReason !== undefined || params["error"] !== undefined;
    const promptId = isEnd ? session.info.promptId : stringAt(params, "promptId");
    const turnBy = isEnd ? session.info.turnBy : readBy(params["by"]);
    // An end names the prompt that ended; while another runs on, that one is still the session's.
    if (turn === "idle") session.info = described;
    else
      session.info = {
        ...described,
        ...(promptId !== undefined && { promptId }),
        ...(turnBy !== undefined && { turnBy }),
      };
    session.noteTurn(turn, at);
    this.#context.ports.record?.onStanding(session.info, at, session.lastLine);
    if (isNews) {
      tellTurnState(this.#context.connections, session);
      if (isEnd) tellTurnComplete(session, stopReason ?? "error", readBy(params["by"])?.connectionId);
    }
    this.#context.ports.observe({ kind: "sessions-changed" });
  }

  #onSettled(session: MirrorSession<Encoded>, params: JsonObject, isNews: boolean): void {
    const notice = readSettledNotice(params);
    if (notice === undefined)
      return this.#context.ports.observe({ kind: "bad-link-message", method: HUB.interactionSettled });
    this.#copies.onSettled(notice);
    if (isNews) tellResolved(session, notice);
    return undefined;
  }

  /** A verdict without a number: of no session, or told once more to a late proposal (R3). */
  #onVerdict(params: JsonObject): void {
    const notice = readSettledNotice(params);
    if (notice === undefined)
      return this.#context.ports.observe({ kind: "bad-link-message", method: HUB.interactionSettled });
    const isNews = this.#copies.onSettled(notice);
    if (!isNews || notice.sessionId !== undefined) return undefined;
    const text = JSON.stringify(notification(HUB.interactionSettled, params));
    for (const connection of this.#context.connections)
      if (connection.isInitialized && connection.abilities.isExtended) connection.outbox.send(text);
    return undefined;
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
  #passThrough(
    text: string,
    method: string,
    params: JsonObject | undefined,
    session: MirrorSession<Encoded> | undefined,
  ): void {
    const audience = audienceOf(method, params);
    const isComplete = method === ACP.elicitationComplete;
    for (const connection of this.#context.connections) {
      if (!connection.isInitialized || !connection.abilities.audiences.has(audience)) continue;
      if (isComplete && !this.#copies.isReceiver(params, connection)) continue;
      if (session === undefined) connection.outbox.send(connection.isHubWide ? this.#withInstance(text) : text);
      else if (connection.outbox.isSubscribed(session.feed)) connection.outbox.send(text, session.feed);
    }
  }
}

/** The message with what stands in the update's place for who may not be sent it; undefined: nothing does. */
function otherwiseText(method: string, params: JsonObject): string | undefined {
  const update = substituteFor(objectAt(params, "update"));
  return update === undefined ? undefined : JSON.stringify(notification(method, { ...params, update }));
}

const isEcho = (method: string, params: JsonObject): boolean =>
  method === ACP.sessionUpdate && objectAt(params, "update")?.["sessionUpdate"] === "user_message_chunk";

/** Who does not get this event: the author of an echo (B3), the setter of a synthesised update (S6). */
function exceptOf(method: string, params: JsonObject, stamp: Stamp): string | undefined {
  if (stamp.except !== undefined) return stamp.except;
  return stamp.by !== undefined && isEcho(method, params) ? stamp.by.connectionId : undefined;
}
