/** The mirror's copy of one live session: its description, its journal, who reads it. */
import { type Epoch, epoch, type SessionId, sessionId } from "../../protocol/ids.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import type { LinkSession } from "../../protocol/link.ts";
import { type Encoder, Feed } from "../fanout/feed.ts";
import { Journal } from "../journal/journal.ts";
import { isToolKind, mergeToolCard } from "../journal/tool-card.ts";
import type { Connection } from "./connection.ts";
import type { RestoredJournal } from "./ports.ts";

/** What an item of the record is counted as; its true size is not worth writing it out again. */
const RESTORED_ITEM_BYTES = 512;
/** Tool cards kept for filling in permission requests (X10). */
const CARDS_MAX = 256;

export class MirrorSession<Encoded> {
  readonly id: SessionId;
  readonly epoch: Epoch;
  info: LinkSession;
  readonly journal: Journal;
  readonly feed: Feed<Encoded>;
  /** Connections that attached it (B1). */
  readonly attached: Set<Connection<Encoded>> = new Set();
  /** Last event of the replay it began with: nobody gets those live (B2). */
  baselineTail = 0;
  /** The root had this many events when it described the session; until they are here, loads wait. */
  readonly #syncTail: number;
  readonly #onReady: (() => void)[] = [];
  readonly #cards = new Map<string, JsonObject>();
  updatedAt: number;

  constructor(info: LinkSession, encoder: Encoder<Encoded>, journalBytes: number) {
    this.id = sessionId(info.sessionId);
    this.epoch = epoch(info.epoch);
    this.info = info;
    this.#syncTail = info.tail;
    this.journal = new Journal(this.epoch, journalBytes, info.whole);
    this.feed = new Feed(encoder);
    this.updatedAt = info.updatedAt;
  }

  /** Takes over what an earlier hub kept. */
  restore(restored: RestoredJournal): void {
    for (const item of restored.items) {
      this.journal.put(item, RESTORED_ITEM_BYTES);
      if (item.run === undefined) this.noteCard(item.params);
    }
    this.journal.limitExactness(restored.exactAfter, restored.isWhole);
  }

  /** Everything the root had at the time it told of the session is here. */
  get isReady(): boolean {
    return this.journal.tail >= this.#syncTail;
  }

  whenReady(then: () => void): void {
    if (this.isReady) then();
    else this.#onReady.push(then);
  }

  /** Called after each event; runs what waited for the copy to be whole. */
  settleReady(): void {
    if (this.#onReady.length === 0 || !this.isReady) return;
    for (const then of this.#onReady.splice(0)) then();
  }

  /** Remembers what a card shows, for requests that leave it out. */
  noteCard(params: JsonObject): void {
    const update = objectAt(params, "update");
    const id = stringAt(update, "toolCallId");
    if (update === undefined || id === undefined || !isToolKind(update["sessionUpdate"])) return;
    const known = this.#cards.get(id);
    this.#cards.set(id, mergeToolCard(known ?? {}, slim(update)));
    if (known !== undefined || this.#cards.size <= CARDS_MAX) return;
    const [oldest] = this.#cards.keys();
    if (oldest !== undefined) this.#cards.delete(oldest);
  }

  card(toolCallId: string): JsonObject | undefined {
    return this.#cards.get(toolCallId);
  }
}

/** Only what a request may need: output and content can be large. */
function slim(update: JsonObject): JsonObject {
  const { sessionUpdate, toolCallId, title, kind, rawInput, status, locations } = update;
  return { sessionUpdate, toolCallId, title, kind, rawInput, status, locations };
}
