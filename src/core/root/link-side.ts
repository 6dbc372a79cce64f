/**
 * The link as the root sees it: one client that is a cursor into every session's journal (B5). While it is down nothing queues
 * for it; on the next dial it is told the state and gets the events it lacks (R4, R5).
 */
import { notification, type RpcId } from "../../protocol/envelope.ts";
import { hubError, RPC } from "../../protocol/errors.ts";
import { connectionId, type SessionId, sessionId } from "../../protocol/ids.ts";
import { asJson, isObject, type Json, type JsonObject, numberAt, stringAt } from "../../protocol/json.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { LINK } from "../../protocol/link.ts";
import { type CatchUpSource, Outbox, type Sink } from "../fanout/outbox.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { itemLinkText } from "../journal/frames.ts";
import type { JournalItem } from "../journal/item.ts";
import { bodyText } from "./calls.ts";
import { lineEncoder, type RootSession } from "./session.ts";

const LINK_ID = connectionId("link");
const TOO_LARGE = hubError(
  RPC.internalError,
  "too-large",
  "The agent's answer is too large to share: ask for less of it",
);
/** Above this many unsent bytes the hub is behind: it is caught up from the journal. */
const PAUSE_BYTES = 1_048_576;

function catchUpSource(session: RootSession): CatchUpSource {
  const { journal } = session;
  return {
    tail: () => journal.tail,
    isMidway: false,
    historyUpTo: 0,
    gapNotice: () => undefined,
    read(cursor, upTo, maxBytes) {
      const page = journal.pageAfter(cursor, upTo, maxBytes);
      if (page !== undefined) return { texts: page.items.map((item) => linkText(session, item)), last: page.last };
      // The journal has shrunk past what the hub holds: it starts its copy over (`head` says so), and gets all of it in one
      // piece, because positions in the merged part are no numbers any more.
      const merged = journal.everything().filter((item) => item.last <= journal.exactAfter);
      const texts = [announcement(session), ...merged.map((item) => linkText(session, item))];
      return { texts, last: journal.exactAfter };
    },
  };
}

/** History stays history on every way it is told: a reader that did not ask for it does not get it (B2). */
const linkText = (session: RootSession, item: JournalItem): string =>
  itemLinkText(item, session.epoch, item.last <= session.baselineTail ? { replay: true } : {});

const announcement = (session: RootSession): string =>
  JSON.stringify(notification(LINK.session, asJson(session.describe())));

export class LinkSide {
  readonly #charsMax: () => number;
  #outbox: Outbox<string> | undefined;
  #features: ReadonlySet<string> = new Set();

  /** `charsMax`: the longest message that is shared (T2). */
  constructor(charsMax: () => number) {
    this.#charsMax = charsMax;
  }

  /** The hub said in its welcome that it does this. */
  does(feature: string): boolean {
    return this.#features.has(feature);
  }

  get isUp(): boolean {
    return this.#outbox !== undefined;
  }

  /** A hub is there. `acked` says per session what it holds; the caller sends the snapshot before it subscribes sessions. */
  up(sink: Sink<string>, onHopeless: (() => void) | undefined, features: readonly string[]): void {
    this.#features = new Set(features);
    // Updates never queue, but what else it is owed would, behind a hub that hangs.
    const hardBytes = onHopeless === undefined ? Number.POSITIVE_INFINITY : LIMITS.outboxHardBytes;
    const limits = { pauseBytes: PAUSE_BYTES, hardBytes };
    this.#outbox = new Outbox(LINK_ID, sink, lineEncoder, limits, () => onHopeless?.());
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

  /** How far the hub has been sent a session; undefined while there is no hub. */
  cursorOf(session: RootSession): number | undefined {
    return this.#outbox?.cursorOf(session.feed);
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
    const text = bodyText(id, body);
    this.#outbox?.send(text.length > this.#charsMax() ? bodyText(id, { error: TOO_LARGE }) : text, session?.feed);
  }

  announce(session: RootSession): void {
    this.#outbox?.send(announcement(session), session.feed);
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
