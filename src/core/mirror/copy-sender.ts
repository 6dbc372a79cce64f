/** Puts one copy of an interaction on a client's wire and takes it back: rendering, cards, ids (X2, X6, X8, X10). */
import { ACP } from "../../protocol/acp.ts";
import { notification, type RpcId, type RpcResponse } from "../../protocol/envelope.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import type { Feed } from "../fanout/feed.ts";
import { DowngradeRun } from "../interaction/downgrade.ts";
import { closeCard, openCard, stepParams } from "../interaction/downgrade-view.ts";
import { permissionParams, precedingCard } from "../interaction/permission-view.ts";
import type { Copy, MirrorAsk } from "./ask.ts";
import type { Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import type { MirrorSession } from "./session.ts";

export class CopySender<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  /** The client's own id of a request the root names (X12). */
  readonly #clientIdOf: (linkId: RpcId) => RpcId | undefined;

  constructor(context: MirrorContext<Encoded>, clientIdOf: (linkId: RpcId) => RpcId | undefined) {
    this.#context = context;
    this.#clientIdOf = clientIdOf;
  }

  sessionOf(ask: MirrorAsk<Encoded>): MirrorSession<Encoded> | undefined {
    return ask.sessionId === undefined ? undefined : this.#context.sessions.get(ask.sessionId);
  }

  feedOf(ask: MirrorAsk<Encoded>): Feed<Encoded> | undefined {
    return this.sessionOf(ask)?.feed;
  }

  /** How a client sees it: as asked (undefined), by popups, or not at all (X1, X8). */
  rendering(ask: MirrorAsk<Encoded>, connection: Connection<Encoded>): DowngradeRun | undefined | "none" {
    if (ask.method !== ACP.elicitationCreate) return undefined;
    if (ask.params["mode"] === "url") return connection.abilities.hasUrls ? undefined : "none";
    if (connection.abilities.hasForms) return undefined;
    return ask.sessionId === undefined ? "none" : new DowngradeRun(ask.params);
  }

  /** The card the copy hangs on, where this client cannot have seen it. */
  sendCard(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    const { outbox } = copy.connection;
    if (copy.run !== undefined) return outbox.send(JSON.stringify(openCard(ask.params)), this.feedOf(ask));
    const toolCallId = stringAt(objectAt(ask.params, "toolCall"), "toolCallId");
    const session = this.sessionOf(ask);
    if (ask.method !== ACP.requestPermission || toolCallId === undefined || session === undefined) return undefined;
    const known = session.card(toolCallId);
    const seenAfter = outbox.isSubscribed(session.feed) ? (copy.connection.seenAfter.get(session) ?? 0) : Infinity;
    if (known !== undefined && known.first > seenAfter) return undefined;
    const card = precedingCard(ask.params, known?.card);
    return card === undefined ? undefined : outbox.send(card, session.feed);
  }

  /** Asks, under a new id of ours. */
  ask(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>, onResponse: (response: RpcResponse) => void): void {
    const { connection, run } = copy;
    const method = run === undefined ? ask.method : ACP.requestPermission;
    const { id, text } = connection.mint(method, run === undefined ? this.#params(ask) : stepParams(ask.params, run));
    copy.id = id;
    connection.asked.set(id, (response) => {
      connection.asked.delete(id);
      copy.id = undefined;
      onResponse(response);
    });
    connection.outbox.send(text, this.feedOf(ask), tagOf(connection, id));
  }

  /** Takes the request back: unsent it simply vanishes, sent it is cancelled under the id the client knows (X2). */
  cancel(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    const { connection, id } = copy;
    if (id === undefined) return;
    copy.id = undefined;
    connection.asked.delete(id);
    if (connection.outbox.withdraw(tagOf(connection, id))) return;
    // The same value stands twice: clients of the predecessor read `id`.
    const cancel = notification(ACP.cancelRequest, { requestId: id, id });
    connection.outbox.send(JSON.stringify(cancel), this.feedOf(ask));
  }

  /** A card made for this client alone comes to its end. */
  endCard(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    const card = copy.run === undefined ? undefined : closeCard(ask.params);
    if (card !== undefined) copy.connection.outbox.send(JSON.stringify(card), this.feedOf(ask));
  }

  #params(ask: MirrorAsk<Encoded>): JsonObject {
    const toolCallId = stringAt(objectAt(ask.params, "toolCall"), "toolCallId");
    const known = toolCallId === undefined ? undefined : this.sessionOf(ask)?.card(toolCallId);
    const params = permissionParams(ask.params, known?.card);
    const requestId = params["requestId"];
    if (typeof requestId !== "number") return params;
    return { ...params, requestId: this.#clientIdOf(requestId) ?? requestId };
  }
}

const tagOf = <E>(connection: Connection<E>, id: number): string => `${connection.id}#${id}`;
