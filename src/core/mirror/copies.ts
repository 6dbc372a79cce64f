/**
 * Interactions at the mirror: offers copies to the clients that can show them, proposes the first valid answer to the root, closes
 * copies when the verdict is there (R3, R4, X1–X4, X6, X8–X10).
 *
 * M1 A copy is closed only by its client's answer, by the verdict, or with its connection.
 * M2 At most one proposal is on its way; those behind it go up only when the root refused the first.
 * M3 A plain client holds one request at a time; the next is shown when that is settled or it stepped back (X10).
 */
import { notification, type RpcId } from "../../protocol/envelope.ts";
import { HUB, type SettledNotice } from "../../protocol/hub-methods.ts";
import { type InteractionId, interactionId, sessionId } from "../../protocol/ids.ts";
import { asJson, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import type { Author } from "../../protocol/meta.ts";
import { type AnswerBody, cancelledAnswer, readAnswer } from "../interaction/answer.ts";
import { SettledLog } from "../interaction/settled-log.ts";
import { isFor, readUrlOwner } from "../interaction/url-owner.ts";
import type { Copy, MirrorAsk, OpenAskView, Verdict } from "./ask.ts";
import type { Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import { CopyAnswers } from "./copy-answers.ts";
import { CopySender } from "./copy-sender.ts";
import { Proposals } from "./proposals.ts";
import type { MirrorSession } from "./session.ts";
import { UrlReceivers } from "./url-receivers.ts";

export class Copies<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #sender: CopySender<Encoded>;
  readonly #proposals: Proposals<Encoded>;
  readonly #answers: CopyAnswers<Encoded>;
  readonly #open = new Map<InteractionId, MirrorAsk<Encoded>>();
  readonly #settled = new SettledLog();
  readonly #urls = new UrlReceivers();

  constructor(context: MirrorContext<Encoded>, clientIdOf: (linkId: RpcId) => RpcId | undefined) {
    this.#context = context;
    this.#sender = new CopySender(context, clientIdOf);
    this.#proposals = new Proposals(context);
    this.#answers = new CopyAnswers(context, {
      sender: this.#sender,
      proposals: this.#proposals,
      close: (ask, copy) => this.#close(ask, copy),
      report: (ask) => this.#report(ask),
      showNext: (copy) => this.#nextInLine(copy.connection),
    });
  }

  /**
   * Open ones, oldest first, but for those that are one client's alone (X12). A url elicitation's view names whose it is: a login's
   * address is nobody else's to read.
   */
  views(): OpenAskView[] {
    return [...this.#open.values()].filter((ask) => ask.onlyConnection === undefined).map(viewOf);
  }

  openIds(session: MirrorSession<Encoded>): ReadonlySet<InteractionId> {
    const ids = new Set<InteractionId>();
    for (const ask of this.#open.values()) if (ask.sessionId === session.id) ids.add(ask.interactionId);
    return ids;
  }

  openCount(session: MirrorSession<Encoded>): number {
    return this.openIds(session).size;
  }

  /** It was asked for this url elicitation, or nobody knows who was: it hears that it is complete (X12). */
  isReceiver(params: JsonObject | undefined, connection: Connection<Encoded>): boolean {
    return this.#urls.of(params)?.has(connection.device) !== false;
  }

  /** The root offers an interaction. One that is known already (after a re-dial) stays as it is. */
  onInteraction(params: JsonObject): void {
    const id = stringAt(params, "interactionId");
    const request = objectAt(params, "params");
    const method = stringAt(params, "method");
    if (id === undefined || request === undefined || method === undefined)
      return this.#context.ports.observe({ kind: "bad-link-message", method: LINK.interaction });
    if (this.#open.has(interactionId(id)) || this.#settled.get(interactionId(id)) !== undefined) return undefined;
    const session = stringAt(params, "sessionId");
    const ask: MirrorAsk<Encoded> = {
      interactionId: interactionId(id),
      method,
      params: request,
      openedAt: numberAt(params, "openedAt") ?? 0,
      sessionId: session === undefined ? undefined : sessionId(session),
      onlyConnection: stringAt(params, "onlyConnection"),
      owner: params["onlyConnection"] === undefined ? readUrlOwner(method, request, params["owner"]) : undefined,
      copies: new Map(),
      proposals: [],
      reportedCopies: undefined,
    };
    this.#open.set(ask.interactionId, ask);
    this.#context.ports.record?.onInteraction(viewOf(ask));
    for (const connection of this.#context.connections) this.#offer(ask, connection);
    this.#report(ask);
    this.#declineHopeless(ask);
    return this.#context.ports.observe({ kind: "interactions-changed" });
  }

  /** A client came in, or its abilities changed: it joins the races it can. */
  offerAll(connection: Connection<Encoded>): void {
    this.#nextInLine(connection);
    for (const ask of this.#open.values()) {
      this.#offer(ask, connection);
      this.#report(ask);
    }
  }

  /** X6: after a load what was open is asked anew, so that exactly one copy of each is open. */
  askAgain(connection: Connection<Encoded>, ids: ReadonlySet<InteractionId>): void {
    const asks = [...ids].flatMap((id) => this.#open.get(id) ?? []);
    const again = asks.filter((ask) => {
      const copy = ask.copies.get(connection);
      // An answer on its way is not asked for once more.
      return copy === undefined || copy.id !== undefined;
    });
    for (const ask of again) {
      const copy = ask.copies.get(connection);
      if (copy !== undefined) this.#withdraw(ask, copy);
    }
    for (const ask of again) this.#offer(ask, connection);
    this.#nextInLine(connection);
    for (const ask of again) this.#report(ask);
  }

  /** The connection is gone: an abstention everywhere (X3). */
  onGone(connection: Connection<Encoded>): void {
    for (const ask of this.#open.values()) {
      connection.askQueue.delete(ask.interactionId);
      if (ask.copies.delete(connection)) {
        connection.openCopies -= 1;
        this.#report(ask);
      }
    }
  }

  /** The connection may no longer answer: its copies are withdrawn. */
  onScopesChanged(connection: Connection<Encoded>): void {
    for (const ask of this.#open.values()) {
      if (this.#mayHold(ask, connection)) continue;
      connection.askQueue.delete(ask.interactionId);
      const copy = ask.copies.get(connection);
      if (copy !== undefined) this.#withdraw(ask, copy);
      this.#report(ask);
    }
    if (connection.may("interactions:answer")) this.offerAll(connection);
  }

  /** A device may no longer answer: what it said and the root has not judged is withdrawn (contract §2). */
  dropProposals(device: string): void {
    for (const ask of this.#open.values()) this.#proposals.drop(ask, device);
  }

  /** An answer from outside the sockets (`POST …/answer`). False when the interaction is not known at all. */
  answer(id: InteractionId, body: AnswerBody, author: Author, onVerdict: (verdict: Verdict) => void): boolean {
    const { isOwner = false, ...by } = author;
    const ask = this.#open.get(id);
    const notice = this.#settled.get(id);
    if (ask === undefined) {
      if (notice !== undefined) onVerdict({ kind: "settled", notice });
      return notice !== undefined;
    }
    if (ask.onlyConnection !== undefined && ask.onlyConnection !== by.connectionId) return false;
    if (!isFor(ask.owner, { device: by.device, isOwner })) return false;
    const read = readAnswer(ask.method, ask.params, body);
    if (read.kind === "invalid") onVerdict({ kind: "rejected", reason: read.reason });
    else if (read.kind === "abstains") onVerdict({ kind: "rejected", reason: "an error is no answer" });
    // X3: only the last one in the race gives the question up. The editor's copy is the root's to know.
    else if (read.kind === "cancelled" && openCopies(ask) > 0)
      onVerdict({ kind: "rejected", reason: "others are still asked, and may answer" });
    else this.#proposals.add(ask, { by, body, onVerdict });
    return true;
  }

  /** The root's verdict: closes every copy, tells who waits (R3, X2). False when it was known. */
  onSettled(notice: SettledNotice): boolean {
    const id = interactionId(notice.interactionId);
    const isNews = this.#settled.add(notice);
    if (isNews) this.#context.ports.observe({ kind: "settled", notice });
    const ask = this.#open.get(id);
    if (ask === undefined) return isNews;
    this.#open.delete(id);
    const holders = [...ask.copies.values()];
    for (const copy of holders) this.#withdraw(ask, copy);
    for (const copy of holders) this.#nextInLine(copy.connection);
    for (const proposal of ask.proposals) proposal.onVerdict?.({ kind: "settled", notice });
    this.#context.ports.observe({ kind: "interactions-changed" });
    return isNews;
  }

  /** The root refused a proposal: that client is out of the race, the next answer goes up. */
  onRejected(params: JsonObject): void {
    const ask = this.#open.get(interactionId(stringAt(params, "interactionId") ?? ""));
    const connection = stringAt(params, "connectionId");
    const reason = stringAt(params, "reason") ?? "not valid";
    if (ask === undefined || !this.#proposals.reject(ask, connection, reason)) return;
    for (const copy of [...ask.copies.values()])
      if (copy.connection.id === connection) this.#answers.abstain(ask, copy, reason);
    this.#proposals.send(ask);
  }

  /** R4: the link is back; what it says of each interaction decides. */
  reconcile(open: ReadonlySet<string>, settled: readonly SettledNotice[]): void {
    const notices = new Map(settled.map((notice) => [notice.interactionId, notice]));
    for (const ask of [...this.#open.values()]) {
      const notice = notices.get(ask.interactionId);
      if (notice !== undefined) this.onSettled(notice);
      else if (open.has(ask.interactionId)) {
        ask.reportedCopies = undefined;
        this.#report(ask);
        this.#proposals.send(ask);
      } else this.#endUnknown(ask);
    }
  }

  /** The instance is gone: its interactions end (L3). */
  endAll(): void {
    for (const ask of [...this.#open.values()]) this.#endUnknown(ask);
  }

  /** The session is gone: what was open there has ended with it, whatever was told before. */
  forgetSession(session: MirrorSession<Encoded>): void {
    for (const ask of [...this.#open.values()]) if (ask.sessionId === session.id) this.#endUnknown(ask);
  }

  /** Ended without a verdict: those who understand it are told so (R4). */
  #endUnknown(ask: MirrorAsk<Encoded>): void {
    const notice: SettledNotice = {
      interactionId: ask.interactionId,
      outcome: { action: "ended" },
      by: { connectionId: "hub", device: "hub", name: "acp-hub" },
      at: ask.openedAt,
      ...(ask.sessionId !== undefined && { sessionId: ask.sessionId }),
    };
    const text = JSON.stringify(notification(HUB.interactionSettled, asJson({ ...notice, reason: "agent-gone" })));
    for (const connection of this.#context.connections)
      if (connection.isInitialized && connection.abilities.isExtended)
        connection.outbox.send(text, this.#sender.feedOf(ask));
    this.onSettled(notice);
  }

  #mayHold(ask: MirrorAsk<Encoded>, connection: Connection<Encoded>): boolean {
    if (!connection.may("interactions:answer")) return false;
    if (ask.onlyConnection !== undefined) return ask.onlyConnection === connection.id;
    return isFor(ask.owner, connection);
  }

  #offer(ask: MirrorAsk<Encoded>, connection: Connection<Encoded>): void {
    if (ask.copies.has(connection) || !connection.isInitialized || connection.isGone) return;
    if (!this.#mayHold(ask, connection)) return;
    const run = this.#sender.rendering(ask, connection);
    if (run === "none") return;
    if (!connection.abilities.isExtended && connection.openCopies > 0) {
      connection.askQueue.set(ask.interactionId, () => {
        if (this.#open.get(ask.interactionId) !== ask) return;
        this.#offer(ask, connection);
        this.#report(ask);
      });
      return;
    }
    connection.askQueue.delete(ask.interactionId);
    const copy: Copy<Encoded> = { connection, run, id: undefined };
    ask.copies.set(connection, copy);
    connection.openCopies += 1;
    this.#urls.note(ask.params, connection.device);
    this.#sender.sendCard(ask, copy);
    this.#answers.ask(ask, copy);
  }

  /** X12: the one client it is for is not there or cannot show it: nobody ever will, and the agent waits. */
  #declineHopeless(ask: MirrorAsk<Encoded>): void {
    if (ask.onlyConnection === undefined || ask.copies.size > 0) return;
    const waits = [...this.#context.connections].some(
      (connection) => connection.id === ask.onlyConnection && connection.askQueue.has(ask.interactionId),
    );
    if (waits) return;
    const by = { connectionId: ask.onlyConnection, device: "hub", name: "acp-hub" };
    this.#proposals.add(ask, { by, body: cancelledAnswer(ask.method), onVerdict: undefined });
  }

  #withdraw(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    this.#sender.cancel(ask, copy);
    this.#close(ask, copy);
  }

  #close(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    if (ask.copies.get(copy.connection) !== copy) return;
    ask.copies.delete(copy.connection);
    copy.id = undefined;
    copy.connection.openCopies -= 1;
    this.#sender.endCard(ask, copy);
  }

  /** M3: shows a plain client the next of those that wait for it. */
  #nextInLine(connection: Connection<Encoded>): void {
    for (const [id, show] of connection.askQueue) {
      if (connection.openCopies > 0 && !connection.abilities.isExtended) return;
      connection.askQueue.delete(id);
      show();
    }
  }

  /** X3: the link is a racer only while somebody there holds an open copy. */
  #report(ask: MirrorAsk<Encoded>): void {
    if (!this.#open.has(ask.interactionId)) return;
    const open = openCopies(ask);
    if (open === ask.reportedCopies) return;
    ask.reportedCopies = open;
    this.#context.notifyLink(LINK.copies, { interactionId: ask.interactionId, open });
  }
}

function openCopies<E>({ copies }: MirrorAsk<E>): number {
  let open = 0;
  for (const copy of copies.values()) if (copy.id !== undefined) open += 1;
  return open;
}

const viewOf = <E>(ask: MirrorAsk<E>): OpenAskView => {
  const { interactionId: id, sessionId: session, method, params, openedAt, owner } = ask;
  return { interactionId: id, sessionId: session, method, params, openedAt, owner };
};
