/**
 * Interactions at the mirror: offers copies to the clients that can show them, proposes the first valid answer to the root, closes
 * copies when the verdict is there (R3, R4, X1–X4, X6, X8–X10).
 *
 * M1 A copy is closed only by its client's answer, by the verdict, or with its connection.
 * M2 At most one proposal is on its way; those behind it go up only when the root refused the first.
 * M3 A plain client holds one request at a time; the next is shown when that is answered or settled (X10).
 */
import { ACP } from "../../protocol/acp.ts";
import { notification, type RpcId } from "../../protocol/envelope.ts";
import { HUB, type SettledNotice } from "../../protocol/hub-methods.ts";
import { type InteractionId, interactionId, sessionId } from "../../protocol/ids.ts";
import { type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { LINK } from "../../protocol/link.ts";
import type { By } from "../../protocol/meta.ts";
import { type AnswerBody, answerBody, readAnswer } from "../interaction/answer.ts";
import { DowngradeRun } from "../interaction/downgrade.ts";
import { closeCard, openCard, stepParams } from "../interaction/downgrade-view.ts";
import type { Copy, MirrorAsk, OpenAskView, Proposal, Verdict } from "./ask.ts";
import type { Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import { permissionParams, precedingCard } from "./permission-view.ts";
import type { MirrorSession } from "./session.ts";

export class Copies<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #open = new Map<InteractionId, MirrorAsk<Encoded>>();
  /** How the last ones ended, for answers that come late over HTTP. */
  readonly #settled = new Map<InteractionId, SettledNotice>();

  /** The client's own id of a request the root names (X12). */
  readonly #clientIdOf: (linkId: RpcId) => RpcId | undefined;

  constructor(context: MirrorContext<Encoded>, clientIdOf: (linkId: RpcId) => RpcId | undefined) {
    this.#context = context;
    this.#clientIdOf = clientIdOf;
  }

  /** Open ones, oldest first. */
  views(): OpenAskView[] {
    return [...this.#open.values()].map(viewOf);
  }

  openCount(session: MirrorSession<Encoded>): number {
    let count = 0;
    for (const ask of this.#open.values()) if (ask.session === session) count += 1;
    return count;
  }

  /** The root offers an interaction. One that is known already (after a re-dial) stays as it is. */
  onInteraction(params: JsonObject): void {
    const id = interactionId(stringAt(params, "interactionId") ?? "");
    const request = objectAt(params, "params");
    const method = stringAt(params, "method");
    if (this.#open.has(id) || request === undefined || method === undefined) return;
    const session = this.#context.sessions.get(sessionId(stringAt(params, "sessionId") ?? ""));
    const ask: MirrorAsk<Encoded> = {
      interactionId: id,
      method,
      params: request,
      openedAt: numberAt(params, "openedAt") ?? 0,
      session,
      onlyConnection: stringAt(params, "onlyConnection"),
      copies: new Map(),
      proposals: [],
      reportedCopies: 0,
    };
    this.#open.set(id, ask);
    this.#context.ports.record?.onInteraction(viewOf(ask));
    for (const connection of this.#context.connections) this.#offer(ask, connection);
    this.#report(ask);
    this.#context.ports.observe({ kind: "interactions-changed" });
  }

  /** A client came in, or its abilities changed: it joins the races it can. */
  offerAll(connection: Connection<Encoded>): void {
    for (const ask of this.#open.values()) {
      this.#offer(ask, connection);
      this.#report(ask);
    }
  }

  /** X6: after a load everything open of the session is asked anew, so that exactly one copy is open. */
  askAgain(connection: Connection<Encoded>, session: MirrorSession<Encoded>): void {
    const asks = [...this.#open.values()].filter((ask) => ask.session === session);
    for (const ask of asks) {
      const copy = ask.copies.get(connection);
      // An answer on its way is not asked for once more.
      if (copy !== undefined && copy.id === undefined && ask.proposals.length > 0) continue;
      if (copy !== undefined) this.#withdraw(ask, copy);
    }
    for (const ask of asks) this.#offer(ask, connection);
    this.#nextInLine(connection);
    for (const ask of asks) this.#report(ask);
  }

  /** The connection is gone: an abstention everywhere (X3). */
  onGone(connection: Connection<Encoded>): void {
    for (const ask of this.#open.values()) {
      if (ask.copies.delete(connection)) this.#report(ask);
    }
  }

  /** The connection may no longer answer: its copies are withdrawn. */
  onScopesChanged(connection: Connection<Encoded>): void {
    if (connection.may("interactions:answer")) return this.offerAll(connection);
    for (const ask of this.#open.values()) {
      const copy = ask.copies.get(connection);
      if (copy !== undefined) this.#withdraw(ask, copy);
      this.#report(ask);
    }
    return undefined;
  }

  /** An answer from outside the sockets (`POST …/answer`). False when the interaction is not known at all. */
  answer(id: InteractionId, body: AnswerBody, by: By, onVerdict: (verdict: Verdict) => void): boolean {
    const ask = this.#open.get(id);
    const notice = this.#settled.get(id);
    if (ask === undefined) {
      if (notice !== undefined) onVerdict({ kind: "settled", notice });
      return notice !== undefined;
    }
    const read = readAnswer(ask.method, ask.params, body);
    if (read.kind === "invalid") onVerdict({ kind: "rejected", reason: read.reason });
    else if (read.kind === "abstains") onVerdict({ kind: "rejected", reason: "an error is no answer" });
    else this.#propose(ask, { by, body, onVerdict });
    return true;
  }

  /** The root's verdict: closes every copy, tells who waits (R3, X2). */
  onSettled(notice: SettledNotice): void {
    const id = interactionId(notice.interactionId);
    this.#settled.set(id, notice);
    if (this.#settled.size > LIMITS.settledKept) {
      const [oldest] = this.#settled.keys();
      if (oldest !== undefined) this.#settled.delete(oldest);
    }
    const ask = this.#open.get(id);
    if (ask === undefined) return;
    this.#open.delete(id);
    const holders = [...ask.copies.values()];
    for (const copy of holders) this.#withdraw(ask, copy);
    for (const copy of holders) this.#nextInLine(copy.connection);
    for (const proposal of ask.proposals) proposal.onVerdict?.({ kind: "settled", notice });
    this.#context.ports.observe({ kind: "interactions-changed" });
  }

  /** The root refused a proposal: that client is out of the race, the next answer goes up. */
  onRejected(params: JsonObject): void {
    const ask = this.#open.get(interactionId(stringAt(params, "interactionId") ?? ""));
    const proposal = ask?.proposals.shift();
    if (ask === undefined || proposal === undefined) return;
    const reason = stringAt(params, "reason") ?? "not valid";
    proposal.onVerdict?.({ kind: "rejected", reason });
    for (const copy of [...ask.copies.values()]) {
      if (copy.connection.id === proposal.by.connectionId) this.#abstain(ask, copy, reason);
    }
    this.#sendProposal(ask);
  }

  /** R4: the link is back; what it says of each interaction decides. */
  reconcile(open: ReadonlySet<string>, settled: readonly SettledNotice[]): void {
    for (const notice of settled) if (this.#open.has(interactionId(notice.interactionId))) this.onSettled(notice);
    for (const ask of [...this.#open.values()]) {
      if (open.has(ask.interactionId)) {
        ask.reportedCopies = 0;
        this.#report(ask);
        this.#sendProposal(ask);
      } else this.#endUnknown(ask);
    }
  }

  /** The instance is gone: its interactions end (L3). */
  endAll(): void {
    for (const ask of [...this.#open.values()]) this.#endUnknown(ask);
  }

  #endUnknown(ask: MirrorAsk<Encoded>): void {
    this.onSettled({
      interactionId: ask.interactionId,
      outcome: { action: "ended" },
      by: { connectionId: "hub", device: "hub", name: "acp-hub" },
      at: 0,
      ...(ask.session !== undefined && { sessionId: ask.session.id }),
    });
  }

  #offer(ask: MirrorAsk<Encoded>, connection: Connection<Encoded>): void {
    if (ask.copies.has(connection) || !connection.isInitialized || connection.isGone) return;
    if (!connection.may("interactions:answer")) return;
    if (ask.onlyConnection !== undefined && ask.onlyConnection !== connection.id) return;
    const run = this.#rendering(ask, connection);
    if (run === "none") return;
    const copy: Copy<Encoded> = { connection, run, id: undefined };
    if (!connection.abilities.isExtended && connection.openCopies > 0) {
      connection.askQueue.push(() => {
        if (this.#open.get(ask.interactionId) === ask && !ask.copies.has(connection)) this.#show(ask, copy);
      });
    } else this.#show(ask, copy);
  }

  /** How a client sees it: as asked (undefined), by popups, or not at all (X1, X8). */
  #rendering(ask: MirrorAsk<Encoded>, connection: Connection<Encoded>): DowngradeRun | undefined | "none" {
    if (ask.method !== ACP.elicitationCreate) return undefined;
    if (ask.params["mode"] === "url") return connection.abilities.hasUrls ? undefined : "none";
    if (connection.abilities.hasForms) return undefined;
    return ask.session === undefined ? "none" : new DowngradeRun(ask.params);
  }

  #show(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    ask.copies.set(copy.connection, copy);
    copy.connection.openCopies += 1;
    const { outbox } = copy.connection;
    if (copy.run !== undefined) outbox.send(JSON.stringify(openCard(ask.params)), ask.session?.feed);
    else this.#sendCard(ask, copy);
    this.#ask(ask, copy);
  }

  /** X6, X10: the card a request hangs on, where this client cannot have seen it. */
  #sendCard(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    const toolCallId = stringAt(objectAt(ask.params, "toolCall"), "toolCallId");
    if (ask.method !== ACP.requestPermission || toolCallId === undefined || ask.session === undefined) return;
    const known = ask.session.card(toolCallId);
    const isSeen = known !== undefined && copy.connection.outbox.isSubscribed(ask.session.feed);
    const card = isSeen ? undefined : precedingCard(ask.params, known);
    if (card !== undefined) copy.connection.outbox.send(card, ask.session.feed);
  }

  #ask(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    const { connection, run } = copy;
    const method = run === undefined ? ask.method : ACP.requestPermission;
    const { id, text } = connection.mint(method, run === undefined ? this.#params(ask) : stepParams(ask.params, run));
    copy.id = id;
    connection.asked.set(id, (response) => {
      connection.asked.delete(id);
      copy.id = undefined;
      this.#onAnswer(ask, copy, answerBody(response));
    });
    connection.outbox.send(text, ask.session?.feed, tagOf(connection, id));
  }

  #params(ask: MirrorAsk<Encoded>): JsonObject {
    const toolCallId = stringAt(objectAt(ask.params, "toolCall"), "toolCallId");
    const params = permissionParams(ask.params, toolCallId === undefined ? undefined : ask.session?.card(toolCallId));
    const requestId = params["requestId"];
    if (typeof requestId !== "number") return params;
    return { ...params, requestId: this.#clientIdOf(requestId) ?? requestId };
  }

  #onAnswer(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>, body: AnswerBody): void {
    const { connection, run } = copy;
    // Scopes are read again when an answer is applied (contract §2).
    if (!connection.may("interactions:answer")) return this.#abstain(ask, copy, "missing scope");
    if (run === undefined) return this.#judge(ask, copy, body);
    const read = readAnswer(ACP.requestPermission, stepParams(ask.params, run), body);
    if (read.kind === "cancelled") return this.#judge(ask, copy, { result: { action: "cancel" } });
    if (read.kind !== "answer") return this.#abstain(ask, copy, read.kind === "invalid" ? read.reason : undefined);
    const move = run.choose(read.outcome.optionId ?? "");
    if (move.kind === "next") return this.#ask(ask, copy);
    if (move.kind === "done") return this.#judge(ask, copy, move.body);
    return this.#abstain(ask, copy, "not one of the options");
  }

  #judge(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>, body: AnswerBody): void {
    const read = readAnswer(ask.method, ask.params, body);
    const others = [...ask.copies.values()].some((other) => other !== copy && other.id !== undefined);
    if (read.kind === "answer" || (read.kind === "cancelled" && !others)) {
      this.#propose(ask, { by: copy.connection.by, body: read.body, onVerdict: undefined });
      this.#report(ask);
    } else this.#abstain(ask, copy, read.kind === "invalid" ? read.reason : undefined);
  }

  /** X3: the client leaves the race. Told why, when what it sent was wrong. */
  #abstain(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>, reason: string | undefined): void {
    const { connection } = copy;
    this.#close(ask, copy);
    this.#context.ports.observe({ kind: "abstained", connectionId: connection.id, interactionId: ask.interactionId });
    if (reason !== undefined && connection.abilities.isExtended) {
      const rejected = notification(HUB.interactionRejected, { interactionId: ask.interactionId, reason });
      connection.outbox.send(JSON.stringify(rejected), ask.session?.feed);
    }
    this.#report(ask);
    this.#nextInLine(connection);
  }

  #propose(ask: MirrorAsk<Encoded>, proposal: Proposal): void {
    ask.proposals.push(proposal);
    if (ask.proposals.length === 1) this.#sendProposal(ask);
  }

  #sendProposal(ask: MirrorAsk<Encoded>): void {
    const [proposal] = ask.proposals;
    if (proposal === undefined) return;
    this.#context.notifyLink(LINK.propose, {
      interactionId: ask.interactionId,
      by: { ...proposal.by },
      ...("error" in proposal.body ? { error: { ...proposal.body.error } } : { result: proposal.body.result }),
    });
  }

  /** Takes a copy back: unsent it simply vanishes, sent it is cancelled under the id the client knows (X2). */
  #withdraw(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    const { connection, id } = copy;
    if (id !== undefined) {
      connection.asked.delete(id);
      if (!connection.outbox.withdraw(tagOf(connection, id))) {
        // The same value stands twice: clients of the predecessor read `id`.
        const cancel = notification(ACP.cancelRequest, { requestId: id, id });
        connection.outbox.send(JSON.stringify(cancel), ask.session?.feed);
      }
    }
    this.#close(ask, copy);
  }

  #close(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    if (ask.copies.get(copy.connection) !== copy) return;
    ask.copies.delete(copy.connection);
    copy.id = undefined;
    copy.connection.openCopies -= 1;
    const card = copy.run === undefined ? undefined : closeCard(ask.params);
    if (card !== undefined) copy.connection.outbox.send(JSON.stringify(card), ask.session?.feed);
  }

  #nextInLine(connection: Connection<Encoded>): void {
    while (connection.openCopies === 0 && connection.askQueue.length > 0) connection.askQueue.shift()?.();
  }

  /** X3: the link is a racer only while somebody there holds an open copy. */
  #report(ask: MirrorAsk<Encoded>): void {
    if (!this.#open.has(ask.interactionId)) return;
    let open = 0;
    for (const copy of ask.copies.values()) if (copy.id !== undefined) open += 1;
    if (open === ask.reportedCopies) return;
    ask.reportedCopies = open;
    this.#context.notifyLink(LINK.copies, { interactionId: ask.interactionId, open });
  }
}

const viewOf = <E>({ interactionId: id, session, method, params, openedAt }: MirrorAsk<E>): OpenAskView => ({
  interactionId: id,
  sessionId: session?.id,
  method,
  params,
  openedAt,
});

const tagOf = <E>(connection: Connection<E>, id: number): string => `${connection.id}#${id}`;
