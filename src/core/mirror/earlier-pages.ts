/** A live session read backwards, page by page: in our own words, and in the predecessor's, whose cursors can expire (S1, S3). */
import { invalidParams } from "../../protocol/errors.ts";
import { numberAt } from "../../protocol/json.ts";
import { itemTextFor } from "../journal/frames.ts";
import { type HistoryItem, lastOf } from "../journal/history-page.ts";
import type { ClientRequest, Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import { cursorExpired, isShown, lastMessages, readPosition, replayMeta } from "./dialect.ts";
import { livePage } from "./live-pages.ts";
import { liveSession, notLive } from "./live-session.ts";
import { pageLimit } from "./page-limit.ts";
import type { MirrorSession } from "./session.ts";

export class EarlierPages<Encoded> {
  readonly #context: MirrorContext<Encoded>;

  constructor(context: MirrorContext<Encoded>) {
    this.#context = context;
  }

  /** A page of older events, marked as such, then the answer. */
  load(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = liveSession(this.#context, request.params);
    if (session === undefined && this.#context.history?.serve(connection, request) === true) return undefined;
    const before = numberAt(request.params, "before");
    if (session === undefined || before === undefined) {
      const field = session === undefined ? "sessionId" : "before";
      return connection.answer(request.id, {
        error: invalidParams(field, session === undefined ? "is not live" : "must be a number"),
      });
    }
    const page = livePage(this.#context, session, before, lastOf(pageLimit(request.params)));
    send(connection, session, page.items);
    return connection.answer(request.id, { result: { hasMore: page.hasMore, before: page.before } }, session.feed);
  }

  loadDialect(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = liveSession(this.#context, request.params);
    if (session === undefined && this.#context.history?.serve(connection, request) === true) return undefined;
    if (session === undefined) return connection.answer(request.id, { error: notLive(request.params) });
    const position = readPosition(request.params["before"]);
    if (position === undefined || position.epoch !== session.epoch || position.before > session.journal.tail + 1)
      return connection.answer(request.id, { error: cursorExpired });
    const startOf = lastMessages(pageLimit(request.params));
    const page = livePage(this.#context, session, position.before, startOf, isShown);
    send(connection, session, page.items);
    const meta = replayMeta(session.epoch, page, session.info.turn !== "idle");
    return connection.answer(request.id, { result: { replayMeta: meta } }, session.feed);
  }
}

function send<E>(connection: Connection<E>, session: MirrorSession<E>, items: readonly HistoryItem[]): void {
  for (const { epoch, item } of items) {
    const text = itemTextFor(connection.abilities.audiences, item, epoch, { replay: true, page: true });
    if (text !== undefined) connection.outbox.send(text, session.feed);
  }
}
