/**
 * The link as the root sees it: one client that is a cursor into every session's journal (B5). While it is down nothing queues
 * for it; on the next dial it is told the state and gets the events it lacks (R4, R5).
 */
import { notification, type RpcId } from "../../protocol/envelope.ts";
import { connectionId, type SessionId, sessionId } from "../../protocol/ids.ts";
import { isObject, type Json, type JsonObject, numberAt, stringAt } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import { type CatchUpSource, Outbox, type Sink } from "../fanout/outbox.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { itemLinkText } from "../journal/frames.ts";
import { bodyText } from "./calls.ts";
import { lineEncoder, type RootSession } from "./session.ts";

const LINK_ID = connectionId("link");
/** The link has no hard bound: updates never queue, and what it is owed besides is bounded by what its clients asked for. */
const LIMITS = { pauseBytes: 1_048_576, hardBytes: Number.POSITIVE_INFINITY };

function catchUpSource(session: RootSession): CatchUpSource {
  const { journal } = session;
  return {
    tail: () => journal.tail,
    isMidway: false,
    gapNotice: () => undefined,
    read(cursor, upTo, maxBytes) {
      const exact = journal.itemsAfter(cursor);
      // Before the exact part everything goes in one piece: positions there are not numbers any more.
      const items = exact.ok ? exact.items : journal.everything().filter((item) => item.last <= journal.exactAfter);
      const texts: string[] = [];
      let bytes = 0;
      let last = cursor;
      for (const item of items) {
        if (exact.ok && (item.first > upTo || bytes > maxBytes)) break;
        const text = itemLinkText(item, session.epoch);
        texts.push(text);
        bytes += text.length;
        last = Math.max(last, item.last);
      }
      return { texts, last: exact.ok ? last : Math.max(last, journal.exactAfter) };
    },
  };
}

export class LinkSide {
  #outbox: Outbox<string> | undefined;

  get isUp(): boolean {
    return this.#outbox !== undefined;
  }

  /** A hub is there. `acked` says per session what it holds; the caller sends the snapshot before it subscribes sessions. */
  up(sink: Sink<string>): void {
    this.#outbox = new Outbox(LINK_ID, sink, lineEncoder, LIMITS, () => undefined);
    this.#outbox.isExtended = true;
  }

  down(): void {
    this.#outbox?.close();
    this.#outbox = undefined;
  }

  onDrain(): void {
    this.#outbox?.onDrain();
  }

  /** Begins to feed a session to the hub, after what it holds of it. */
  subscribe(session: RootSession, acked: Json | undefined): void {
    this.#outbox?.subscribe(session.feed, catchUpSource(session), startCursor(session, acked));
  }

  unsubscribe(session: RootSession): void {
    this.#outbox?.unsubscribe(session.feed);
  }

  /** A notification of our own, in its place among the session's events. */
  notify(method: string, params: JsonObject, session?: RootSession): void {
    this.#outbox?.send(JSON.stringify(notification(method, params)), session?.feed);
  }

  /** An agent's message, untouched (B7). */
  forward(text: string, session?: RootSession): void {
    this.#outbox?.send(text, session?.feed);
  }

  respond(id: RpcId, body: AnswerBody, session?: RootSession): void {
    this.#outbox?.send(bodyText(id, body), session?.feed);
  }

  announce(session: RootSession): void {
    this.notify(LINK.session, { ...session.describe() } as unknown as JsonObject, session);
  }
}

/** Where the hub's copy ends, when it can be continued; 0 when it has to start over. */
function startCursor(session: RootSession, acked: Json | undefined): number {
  if (!isObject(acked) || stringAt(acked, "epoch") !== session.epoch) return 0;
  const seq = numberAt(acked, "seq") ?? 0;
  return seq >= session.journal.exactAfter && seq <= session.journal.tail ? seq : 0;
}

export const asSessionId = (params: JsonObject | undefined): SessionId | undefined => {
  const id = stringAt(params, "sessionId");
  return id === undefined ? undefined : sessionId(id);
};
