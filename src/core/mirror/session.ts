/** The mirror's copy of one live session: its description, its journal, who reads it. */
import { STATE_KINDS } from "../../protocol/acp.ts";
import { HUB, type TurnState } from "../../protocol/hub-methods.ts";
import { type Epoch, epoch, type SessionId, sessionId } from "../../protocol/ids.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import type { LinkSession } from "../../protocol/link.ts";
import { readTurnState } from "../../protocol/notices.ts";
import { type Encoder, Feed } from "../fanout/feed.ts";
import type { JournalItem } from "../journal/item.ts";
import { Journal } from "../journal/journal.ts";
import { isMessageKind, type LastLine } from "../journal/last-line.ts";
import { isToolKind, mergeToolCard } from "../journal/tool-card.ts";
import { SessionState } from "../session-state.ts";
import type { Connection } from "./connection.ts";
import { Glance } from "./glance.ts";
import type { RestoredJournal } from "./ports.ts";

/** What an item of the record is counted as; its true size is not worth writing it out again. */
const RESTORED_ITEM_BYTES = 512;
/** Tool cards kept for filling in permission requests (X10). */
const CARDS_MAX = 256;

/** A card as requests need it, and the event that first showed it. */
export interface KnownCard {
  readonly card: JsonObject;
  readonly first: number;
}

/** What waits for the copy to be whole. Gets the session as it is by then, or undefined when it is gone. */
type Waiting<Encoded> = (session: MirrorSession<Encoded> | undefined) => void;

export class MirrorSession<Encoded> {
  readonly id: SessionId;
  readonly epoch: Epoch;
  info: LinkSession;
  readonly journal: Journal;
  readonly feed: Feed<Encoded>;
  /** Kept by the events as well: an announcement comes only for what no event tells (S5). */
  readonly state: SessionState;
  /** The last update of each state kind, for readers that get no history (S5). */
  readonly lastStates: Map<string, JsonObject> = new Map();
  /** Connections that attached it (B1). */
  readonly attached: Set<Connection<Encoded>> = new Set();
  /** Events up to here are history: nobody gets them live (B2). What the root had when it told of the session is. */
  baselineTail: number;
  /** The root had this many events when it described the session; until they are here, loads wait. */
  #syncTail: number;
  #waiting: Waiting<Encoded>[] = [];
  readonly #cards = new Map<string, KnownCard>();
  readonly #glance = new Glance();
  updatedAt: number;

  constructor(info: LinkSession, encoder: Encoder<Encoded>, journalBytes: number, tailBytes?: number) {
    this.id = sessionId(info.sessionId);
    this.epoch = epoch(info.epoch);
    this.info = info;
    this.#syncTail = info.tail;
    this.baselineTail = info.tail;
    this.journal = new Journal(this.epoch, journalBytes, info.whole);
    this.feed = new Feed(encoder, tailBytes);
    this.state = new SessionState(info.state);
    this.updatedAt = info.updatedAt;
  }

  /** The root describes it anew, in the same epoch. */
  describe(info: LinkSession): void {
    const wasLoading = this.info.loading === true;
    this.info = info;
    this.state.replaceResult(info.state);
    this.journal.limitExactness(0, info.whole);
    if (!wasLoading || info.loading === true) return;
    // The replay is over: this is where it ends.
    this.#syncTail = Math.max(this.#syncTail, info.tail);
    this.baselineTail = Math.max(this.baselineTail, info.tail);
    this.settleReady();
  }

  /** Takes over what an earlier hub kept. */
  restore(restored: RestoredJournal): void {
    for (const item of restored.items) {
      this.journal.put(item, RESTORED_ITEM_BYTES);
      if (item.method === HUB.turn) this.noteTurn(readTurnState(item.params["state"]), item.ts);
      else if (item.run === undefined) this.noteUpdate(item.params, item);
      else if (isMessageKind(item.run.kind)) this.#glance.onMessage(item.last);
    }
    this.journal.limitExactness(restored.exactAfter, restored.isWhole);
    // What the root says is newer than what was kept.
    this.state.replaceResult(this.info.state);
  }

  /** Everything the root had at the time it told of the session is here, and the agent's replay is complete. */
  get isReady(): boolean {
    return this.info.loading !== true && this.journal.tail >= this.#syncTail;
  }

  whenReady(then: Waiting<Encoded>): void {
    if (this.isReady) then(this);
    else this.#waiting.push(then);
  }

  /** Called after each event; runs what waited for the copy to be whole. */
  settleReady(): void {
    if (this.#waiting.length === 0 || !this.isReady) return;
    for (const then of this.#waiting.splice(0)) then(this);
  }

  /** Goes on in place of `old`: what waited there waits here, and what it showed last is still so. */
  succeed(old: MirrorSession<Encoded>): void {
    this.#waiting.push(...old.#waiting.splice(0));
    for (const [kind, update] of old.lastStates) this.lastStates.set(kind, update);
    this.rememberLine(old.lastLine);
    this.settleReady();
  }

  /** It is gone: nothing waits any longer. */
  abandon(): void {
    for (const then of this.#waiting.splice(0)) then(undefined);
  }

  /** Remembers what an update shows, for requests that leave it out, for readers without history, and for lists. */
  noteUpdate(params: JsonObject, { first, last }: JournalItem): void {
    const update = objectAt(params, "update");
    const kind = stringAt(update, "sessionUpdate");
    if (update === undefined || kind === undefined) return;
    if (isMessageKind(kind)) this.#glance.onMessage(last);
    else if (STATE_KINDS.has(kind)) this.#noteState(kind, update);
    else if (isToolKind(kind)) this.#noteCard(update, first);
  }

  /** A turn notice of `at` says so. */
  noteTurn(state: TurnState, at: number): void {
    this.#glance.onTurn(state, at);
  }

  /** Since when the turn stands as it does, epoch milliseconds; undefined when no event that is kept tells. */
  get turnSince(): number | undefined {
    return this.#glance.since(this.info.turn);
  }

  /** Its last message or tool, made into a line when it is asked for. */
  get lastLine(): LastLine | undefined {
    return this.#glance.line(this.journal, (id) => this.#cards.get(id)?.card);
  }

  /** The last line of before, until there is a newer one. */
  rememberLine(line: LastLine | undefined): void {
    this.#glance.remember(line);
  }

  card(toolCallId: string): KnownCard | undefined {
    return this.#cards.get(toolCallId);
  }

  #noteState(kind: string, update: JsonObject): void {
    this.state.onUpdate(update);
    const before = kind === "session_info_update" ? this.lastStates.get(kind) : undefined;
    this.lastStates.set(kind, { ...before, ...update });
  }

  #noteCard(update: JsonObject, first: number): void {
    const id = stringAt(update, "toolCallId");
    if (id === undefined) return;
    const known = this.#cards.get(id);
    // A card stands where it was first seen; what is said of it later moves nothing (S4).
    if (known === undefined && update["title"] !== undefined) this.#glance.onTool(id);
    this.#cards.set(id, { card: mergeToolCard(known?.card ?? {}, slim(update)), first: known?.first ?? first });
    if (known !== undefined || this.#cards.size <= CARDS_MAX) return;
    const [oldest] = this.#cards.keys();
    if (oldest !== undefined) this.#cards.delete(oldest);
  }
}

/** Only what a request may need: output and content can be large. */
function slim(update: JsonObject): JsonObject {
  const { sessionUpdate, toolCallId, title, kind, rawInput, status, locations } = update;
  return { sessionUpdate, toolCallId, title, kind, rawInput, status, locations };
}
