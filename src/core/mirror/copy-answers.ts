/** What a client's answer to its copy comes to: a proposal, the next step of a form shown as popups, or an abstention (X3, X8). */
import { ACP } from "../../protocol/acp.ts";
import { notification } from "../../protocol/envelope.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { type AnswerBody, answerBody, cancelledAnswer, readAnswer } from "../interaction/answer.ts";
import { stepParams } from "../interaction/downgrade-view.ts";
import type { Copy, MirrorAsk } from "./ask.ts";
import type { MirrorContext } from "./context.ts";
import type { CopySender } from "./copy-sender.ts";
import type { Proposals } from "./proposals.ts";

export interface CopyAnswersPorts<Encoded> {
  readonly sender: CopySender<Encoded>;
  readonly proposals: Proposals<Encoded>;
  /** Ends the copy: its client has left the race. */
  close(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void;
  /** Tells the root how many copies are open, where that has changed. */
  report(ask: MirrorAsk<Encoded>): void;
  /** The client has room for another question. */
  showNext(copy: Copy<Encoded>): void;
}

export class CopyAnswers<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #ports: CopyAnswersPorts<Encoded>;

  constructor(context: MirrorContext<Encoded>, ports: CopyAnswersPorts<Encoded>) {
    this.#context = context;
    this.#ports = ports;
  }

  /** Asks the copy's client, and takes what it says. */
  ask(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>): void {
    this.#ports.sender.ask(ask, copy, (response) => this.#onAnswer(ask, copy, answerBody(response)));
  }

  /** X3: the client leaves the race. Told why, when what it sent was wrong. */
  abstain(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>, reason: string | undefined): void {
    const { connection } = copy;
    this.#ports.close(ask, copy);
    this.#context.ports.observe({ kind: "abstained", connectionId: connection.id, interactionId: ask.interactionId });
    if (reason !== undefined && connection.abilities.isExtended) {
      const rejected = notification(HUB.interactionRejected, { interactionId: ask.interactionId, reason });
      connection.outbox.send(JSON.stringify(rejected), this.#ports.sender.feedOf(ask));
    }
    this.#ports.report(ask);
    this.#ports.showNext(copy);
  }

  #onAnswer(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>, body: AnswerBody): void {
    const { connection, run } = copy;
    // Scopes are read again when an answer is applied (contract §2).
    if (!connection.may("interactions:answer")) return this.abstain(ask, copy, "missing scope");
    if (run === undefined) return this.#judge(ask, copy, body);
    const read = readAnswer(ACP.requestPermission, stepParams(ask.params, run), body);
    if (read.kind === "cancelled") return this.#judge(ask, copy, cancelledAnswer(ask.method));
    if (read.kind !== "answer") return this.abstain(ask, copy, read.kind === "invalid" ? read.reason : undefined);
    const move = run.choose(read.outcome.optionId ?? "");
    if (move.kind === "next") return this.ask(ask, copy);
    if (move.kind === "done") return this.#judge(ask, copy, move.body);
    return this.abstain(ask, copy, "not one of the options");
  }

  #judge(ask: MirrorAsk<Encoded>, copy: Copy<Encoded>, body: AnswerBody): void {
    const read = readAnswer(ask.method, ask.params, body);
    const others = [...ask.copies.values()].some((other) => other !== copy && other.id !== undefined);
    if (read.kind === "answer" || (read.kind === "cancelled" && !others)) {
      this.#ports.proposals.add(ask, { by: copy.connection.by, body: read.body, onVerdict: undefined });
      this.#ports.report(ask);
    } else this.abstain(ask, copy, read.kind === "invalid" ? read.reason : undefined);
  }
}
