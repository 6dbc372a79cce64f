/**
 * The primary's copy of one interaction: a request under an id of ours, or a row of permission requests where the editor has no
 * forms (X8). It knows how to be offered, withdrawn and asked again; what an answer means is decided by `asks.ts`.
 */
import { ACP } from "../../protocol/acp.ts";
import { notification, type RpcId, type RpcResponse, request } from "../../protocol/envelope.ts";
import { type JsonObject, stringAt } from "../../protocol/json.ts";
import { type AnswerBody, answerBody, readAnswer } from "../interaction/answer.ts";
import { DowngradeRun } from "../interaction/downgrade.ts";
import { closeCard, openCard, stepParams, withoutRecipe } from "../interaction/downgrade-view.ts";
import type { RootContext } from "./context.ts";

type CopyState = "none" | "open" | "abstained";

export class PrimaryCopy {
  readonly #context: RootContext;
  readonly #method: string;
  readonly #params: JsonObject;
  #state: CopyState = "none";
  #id: number | undefined;
  #run: DowngradeRun | undefined;
  #onAnswer: ((body: AnswerBody, now: number) => void) | undefined;

  constructor(context: RootContext, method: string, params: JsonObject) {
    this.#context = context;
    this.#method = method;
    this.#params = params;
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  get hasAbstained(): boolean {
    return this.#state === "abstained";
  }

  /** Asks the primary, if it can show this at all. `requestId` replaces the agent-side id inside the params (X12). */
  offer(onAnswer: (body: AnswerBody, now: number) => void, requestId: RpcId | undefined): void {
    const primary = this.#context.livePrimary;
    if (primary === undefined || this.#state === "open") return;
    this.#onAnswer = onAnswer;
    const params = withoutRecipe(this.#params);
    if (this.#method !== ACP.elicitationCreate) return this.#ask(this.#method, params);
    const isUrl = this.#params["mode"] === "url";
    const isShown = isUrl ? primary.abilities.hasUrls : primary.abilities.hasForms;
    if (isShown) this.#ask(this.#method, requestId === undefined ? params : { ...params, requestId });
    else if (!isUrl && stringAt(this.#params, "sessionId") !== undefined) this.#startRun();
  }

  /** The copy closes without an answer: settled elsewhere, or withdrawn. */
  withdraw(): void {
    if (this.#state === "open" && this.#id !== undefined) {
      this.#context.primary?.asked.delete(this.#id);
      // The same value stands twice: clients of the predecessor read `id` (X2).
      this.#send(JSON.stringify(notification(ACP.cancelRequest, { requestId: this.#id, id: this.#id })));
    }
    this.#endRun();
    this.drop();
  }

  /** The primary stepped back; it may be asked again under a new id (X5). */
  abstain(): void {
    this.#endRun();
    this.#state = "abstained";
    this.#id = undefined;
  }

  /** The primary is gone. */
  drop(): void {
    this.#state = "none";
    this.#id = undefined;
    this.#run = undefined;
  }

  #startRun(): void {
    this.#run = new DowngradeRun(this.#params);
    this.#send(JSON.stringify(openCard(this.#params)));
    this.#askStep();
  }

  #askStep(): void {
    if (this.#run !== undefined) this.#ask(ACP.requestPermission, stepParams(this.#params, this.#run));
  }

  #endRun(): void {
    const card = this.#run === undefined ? undefined : closeCard(this.#params);
    if (card !== undefined) this.#send(JSON.stringify(card));
    this.#run = undefined;
  }

  #ask(method: string, params: JsonObject): void {
    const primary = this.#context.livePrimary;
    if (primary === undefined) return;
    const id = primary.nextId();
    this.#id = id;
    this.#state = "open";
    primary.asked.set(id, (response, now) => this.#onResponse(response, now));
    this.#send(JSON.stringify(request(id, method, params)));
  }

  #onResponse(response: RpcResponse, now: number): void {
    this.#id = undefined;
    this.#state = "none";
    const run = this.#run;
    if (run === undefined) {
      this.#onAnswer?.(answerBody(response), now);
      return;
    }
    const body = answerBody(response);
    const read = readAnswer(ACP.requestPermission, stepParams(this.#params, run), body);
    // What a popup is answered with means nothing to an agent that asked with a form: it is put in the form's words.
    if (read.kind !== "answer") {
      this.#onAnswer?.("error" in body ? body : { result: { action: "cancel" } }, now);
      return;
    }
    const move = run.choose(read.outcome.optionId ?? "");
    if (move.kind === "next") this.#askStep();
    else if (move.kind === "done") this.#onAnswer?.(move.body, now);
  }

  #send(text: string): void {
    if (this.#context.livePrimary !== undefined) this.#context.ports.toPrimary(text);
  }
}

/** A response of the primary to something we asked; false when nobody waits for it. */
export function takePrimaryResponse(context: RootContext, response: RpcResponse, now: number): boolean {
  const waiting = typeof response.id === "number" ? context.primary?.asked.get(response.id) : undefined;
  if (waiting === undefined || typeof response.id !== "number") return false;
  context.primary?.asked.delete(response.id);
  waiting(response, now);
  return true;
}
