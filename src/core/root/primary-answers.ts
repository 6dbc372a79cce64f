/**
 * The editor as one of those who may answer: when it is asked, and what its answer comes to (X3, X5). What it says instead of an
 * answer waits for the hub's first report of others; a valid answer never does (A2, A4).
 */
import { notification } from "../../protocol/envelope.ts";
import { HUB, type SettledOutcome } from "../../protocol/hub-methods.ts";
import type { By } from "../../protocol/meta.ts";
import { type AnswerBody, readAnswer } from "../interaction/answer.ts";
import { type Ask, SYSTEM } from "./ask.ts";
import { callersIdOf, isForLink } from "./ask-audience.ts";
import type { RootContext } from "./context.ts";
import type { UrlElicitations } from "./url-elicitations.ts";

export interface PrimaryAnswersPorts {
  isOpen(ask: Ask): boolean;
  /** The one step that ends an interaction (A1). */
  settle(ask: Ask, body: AnswerBody, outcome: SettledOutcome, by: By, now: number): void;
}

/** Reports come in a round trip. A hub that hangs must not keep the agent waiting for good. */
const HELD_MS = 2000;
const heldTimer = (ask: Ask): string => `held:${ask.interactionId}`;

export class PrimaryAnswers {
  readonly #context: RootContext;
  readonly #urls: UrlElicitations;
  readonly #ports: PrimaryAnswersPorts;

  constructor(context: RootContext, urls: UrlElicitations, ports: PrimaryAnswersPorts) {
    this.#context = context;
    this.#urls = urls;
    this.#ports = ports;
  }

  /** Asks the editor, where it may be shown this. */
  offer(ask: Ask): void {
    if (ask.owner !== undefined && !this.#urls.isPrimarys(ask.owner)) return;
    ask.copy.offer((body, now) => this.#onAnswer(ask, body, now), callersIdOf(this.#context, ask));
  }

  /** X6: it has loaded the session. What it had open is taken back, what it had said instead of an answer is forgotten. */
  again(ask: Ask): void {
    if (ask.onlyConnection !== undefined) return;
    this.drop(ask);
    ask.copy.withdraw();
    this.offer(ask);
    if (ask.owner !== undefined) this.#urls.noteOffer(ask.params, ask.copy.isOpen);
  }

  /** So many of the hub's clients hold an open copy. X5: nobody else is left, and the editor had stepped back: it is asked once more. */
  setCopies(ask: Ask, open: number, now: number): void {
    const hadOthers = ask.linkCopies > 0;
    ask.linkCopies = open;
    if (ask.held !== undefined) this.#release(ask, now);
    else if (hadOthers && open === 0 && ask.copy.hasAbstained) this.offer(ask);
  }

  /** The hub has not said in time whether others hold a copy: it is as if none did. */
  onTimer(ask: Ask, name: string, now: number): void {
    if (name === heldTimer(ask)) this.#release(ask, now);
  }

  /** What is held is not waited for any more. */
  drop(ask: Ask): void {
    if (ask.held === undefined) return;
    ask.held = undefined;
    this.#context.ports.cancelTimer(heldTimer(ask));
  }

  #onAnswer(ask: Ask, body: AnswerBody, now: number): void {
    if (!this.#ports.isOpen(ask))
      return this.#context.ports.observe({ kind: "late-answer", interactionId: ask.interactionId });
    if (readAnswer(ask.method, ask.params, body).kind !== "answer" && this.#isBeingCounted(ask))
      return this.#hold(ask, body);
    return this.#judge(ask, body, now);
  }

  #judge(ask: Ask, body: AnswerBody, now: number): void {
    const by = this.#context.primary?.caller.by ?? SYSTEM;
    const read = readAnswer(ask.method, ask.params, body);
    const isAlone = ask.linkCopies === 0;
    const isOwn = ask.session === undefined || ask.session.isPrimarys;
    if (isAlone && isOwn) {
      const outcome: SettledOutcome =
        read.kind === "answer" || read.kind === "cancelled" ? read.outcome : { action: "answered" };
      this.#ports.settle(ask, body, outcome, by, now);
    } else if (read.kind === "answer" || (read.kind === "cancelled" && isAlone)) {
      this.#ports.settle(ask, read.body, read.outcome, by, now);
    } else {
      ask.copy.abstain();
      if (read.kind === "invalid") this.#tellRejected(ask, read.reason);
    }
  }

  /** Somebody beyond the link may hold a copy: the hub's first report is on its way. */
  #isBeingCounted(ask: Ask): boolean {
    const { link, answerers } = this.#context;
    return link.isUp && answerers > 0 && !ask.isReported && isForLink(this.#context, ask);
  }

  #hold(ask: Ask, body: AnswerBody): void {
    ask.held = body;
    ask.copy.abstain();
    this.#context.ports.startTimer(heldTimer(ask), HELD_MS);
  }

  #release(ask: Ask, now: number): void {
    const { held } = ask;
    if (held === undefined) return;
    this.drop(ask);
    this.#judge(ask, held, now);
  }

  #tellRejected(ask: Ask, reason: string): void {
    if (this.#context.livePrimary?.abilities.isExtended !== true) return;
    const rejected = { interactionId: ask.interactionId, reason };
    this.#context.ports.toPrimary(JSON.stringify(notification(HUB.interactionRejected, rejected)));
  }
}
