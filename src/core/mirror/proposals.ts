/**
 * Answers on their way to the root (R3): per interaction one is being judged, those behind it go up only when the root refused the
 * first (M2). Bounded: what comes beyond is told so.
 */
import { LINK } from "../../protocol/link.ts";
import type { MirrorAsk, Proposal } from "./ask.ts";
import type { MirrorContext } from "./context.ts";

/** Kept behind the one that is on its way, per interaction. */
const PROPOSALS_MAX = 64;

export class Proposals<Encoded> {
  readonly #context: MirrorContext<Encoded>;

  constructor(context: MirrorContext<Encoded>) {
    this.#context = context;
  }

  add(ask: MirrorAsk<Encoded>, proposal: Proposal): void {
    if (ask.proposals.length >= PROPOSALS_MAX) {
      proposal.onVerdict?.({ kind: "rejected", reason: "too many answers wait for the verdict" });
      return;
    }
    ask.proposals.push(proposal);
    if (ask.proposals.length === 1) this.send(ask);
  }

  /** Sends the first one, again after a re-dial. */
  send(ask: MirrorAsk<Encoded>): void {
    const [proposal] = ask.proposals;
    if (proposal === undefined) return;
    this.#context.notifyLink(LINK.propose, {
      interactionId: ask.interactionId,
      by: { ...proposal.by },
      ...("error" in proposal.body ? { error: { ...proposal.body.error } } : { result: proposal.body.result }),
    });
  }

  /** A device may no longer answer: what it said and the root has not judged is withdrawn (contract §2). */
  drop(ask: MirrorAsk<Encoded>, device: string): void {
    const [first] = ask.proposals;
    const dropped = ask.proposals.filter((proposal) => proposal.by.device === device);
    if (dropped.length === 0) return;
    ask.proposals.splice(0, Infinity, ...ask.proposals.filter((proposal) => proposal.by.device !== device));
    for (const proposal of dropped) proposal.onVerdict?.({ kind: "rejected", reason: "the device may not answer" });
    if (ask.proposals[0] !== first) this.send(ask);
  }

  /** The root refused the first one, of this connection. False when that is not what is being judged. */
  reject(ask: MirrorAsk<Encoded>, connection: string | undefined, reason: string): boolean {
    const [proposal] = ask.proposals;
    if (proposal === undefined || proposal.by.connectionId !== connection) return false;
    ask.proposals.shift();
    proposal.onVerdict?.({ kind: "rejected", reason });
    return true;
  }
}
