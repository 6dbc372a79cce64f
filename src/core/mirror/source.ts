/** Where a connection's subscription reads a session's history from: the mirror's journal, coalesced, in slices (S3, S4, B5). */
import { ACP } from "../../protocol/acp.ts";
import { notification } from "../../protocol/envelope.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { objectAt } from "../../protocol/json.ts";
import type { CatchUpPage, CatchUpSource } from "../fanout/outbox.ts";
import { itemTextFor } from "../journal/frames.ts";
import type { JournalItem } from "../journal/item.ts";
import type { Connection } from "./connection.ts";
import type { MirrorSession } from "./session.ts";

export interface SourceOptions {
  /** Frames up to here are history the client asked for: marked `replay`. */
  readonly replayUpTo: number;
  /** True when the client asked for everything: then a first read from 0 is the whole record. */
  readonly isWholeReplay: boolean;
  /** Up to here events come one by one: the reader did not ask for history, and is not told that some were joined. */
  readonly exactUpTo: number;
  /** The journal lost what this reader lacks: it has to load anew. */
  readonly onLost: () => void;
}

/** True for the connection's own echo outside a history it asked for. */
function isOwnEcho<E>(item: JournalItem, connection: Connection<E>, isReplay: boolean): boolean {
  if (isReplay) return false;
  if (item.by?.connectionId !== connection.id || item.method !== ACP.sessionUpdate) return false;
  const kind = item.run?.kind ?? objectAt(item.params, "update")?.["sessionUpdate"];
  return kind === "user_message_chunk";
}

export class JournalSource<Encoded> implements CatchUpSource {
  readonly #session: MirrorSession<Encoded>;
  readonly #connection: Connection<Encoded>;
  readonly #options: SourceOptions;
  /** The stretch being given: joined items in order, and how many are out. */
  #plan: { readonly items: readonly JournalItem[]; readonly upTo: number; given: number } | undefined;

  constructor(session: MirrorSession<Encoded>, connection: Connection<Encoded>, options: SourceOptions) {
    this.#session = session;
    this.#connection = connection;
    this.#options = options;
  }

  get isMidway(): boolean {
    return this.#plan !== undefined;
  }

  get historyUpTo(): number {
    return Math.max(this.#options.replayUpTo, this.#options.exactUpTo);
  }

  tail(): number {
    return this.#session.journal.tail;
  }

  gapNotice(cursor: number, upTo: number): string | undefined {
    if (!this.#connection.abilities.isExtended) return undefined;
    return JSON.stringify(notification(HUB.gap, { sessionId: this.#session.id, from: cursor + 1, to: upTo }));
  }

  read(cursor: number, upTo: number, maxBytes: number): CatchUpPage {
    this.#plan ??= { items: this.#stretch(cursor, upTo), upTo, given: 0 };
    const plan = this.#plan;
    const texts: string[] = [];
    let bytes = 0;
    while (plan.given < plan.items.length && bytes < maxBytes) {
      const item = plan.items[plan.given];
      plan.given += 1;
      const isReplay = item !== undefined && item.last <= this.#options.replayUpTo;
      if (item === undefined || isOwnEcho(item, this.#connection, isReplay)) continue;
      const { audiences } = this.#connection.abilities;
      const text = itemTextFor(audiences, item, this.#session.epoch, isReplay ? { replay: true } : {});
      if (text === undefined) continue;
      texts.push(text);
      bytes += text.length;
    }
    if (plan.given < plan.items.length) return { texts, last: cursor };
    this.#plan = undefined;
    return { texts, last: plan.upTo };
  }

  #stretch(cursor: number, upTo: number): readonly JournalItem[] {
    const { journal } = this.#session;
    const found = cursor < this.#options.exactUpTo ? journal.exactBetween(cursor, upTo) : journal.between(cursor, upTo);
    if (found.ok) return found.items;
    if (cursor === 0 && this.#options.isWholeReplay) return journal.replayUntil(upTo);
    this.#options.onLost();
    return [];
  }
}
