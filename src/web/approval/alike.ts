/**
 * Which open permissions may be answered in one act, and with what. Pure.
 *
 * One act answers only what is the same kind of thing for the same tool, with an option that every one of them offers under the same
 * name, and never with one that lasts: "always" is decided about one at a time.
 */
import type { InteractionCard } from "../../client/index.ts";
import type { PermissionChoice, Question } from "./question.ts";

export type Permission = Extract<Question, { kind: "permission" }>;

export interface AlikeItem {
  readonly card: InteractionCard;
  readonly question: Permission;
}

/** More at once nobody reads. */
const ALIKE_MAX = 20;

/** Those among `items` that are like the one with this id, itself included, in their order; none when it stands alone. */
export function alikeItems(items: readonly AlikeItem[], interactionId: string | undefined): readonly AlikeItem[] {
  const current = items.find((item) => item.card.interactionId === interactionId);
  if (current === undefined || !isPlain(current)) return [];
  const alike = items.filter((item) => isPlain(item) && isSameTool(item.question, current.question));
  return alike.length < 2 ? [] : alike.slice(0, ALIKE_MAX);
}

/** Not answered yet, and not a step of something longer. */
const isPlain = ({ card }: AlikeItem): boolean => card.answer === undefined && card.step === undefined;

/** A kind says what a tool does; where it says nothing, only the very same title counts as the same tool. */
function isSameTool(a: Permission, b: Permission): boolean {
  return a.toolKind === b.toolKind && (a.toolKind !== "other" || a.title === b.title);
}

export interface AlikeOffer {
  readonly kind: string;
  /** The agent's own word for it. */
  readonly name: string;
  /** Which option of each question it is. */
  readonly optionIds: ReadonlyMap<string, string>;
}

const ONCE: ReadonlySet<string> = new Set(["allow_once", "reject_once"]);

/** The options that answer all of `items`, in the agent's order. */
export function alikeOffers(items: readonly AlikeItem[]): readonly AlikeOffer[] {
  const [first] = items;
  if (first === undefined) return [];
  return first.question.choices
    .filter((choice) => ONCE.has(choice.kind))
    .map((choice) => offerOf(items, choice))
    .filter((offer): offer is AlikeOffer => offer !== undefined);
}

/** Undefined unless every one of them offers exactly one option of this kind and name. */
function offerOf(items: readonly AlikeItem[], { kind, name }: PermissionChoice): AlikeOffer | undefined {
  const optionIds = new Map<string, string>();
  for (const { card, question } of items) {
    const same = question.choices.filter((choice) => choice.kind === kind);
    const [only] = same;
    if (only === undefined || same.length > 1 || only.name !== name) return undefined;
    optionIds.set(card.interactionId, only.optionId);
  }
  return { kind, name, optionIds };
}
