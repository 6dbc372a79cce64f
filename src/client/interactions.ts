/**
 * The agent's open questions as this client knows them. Pure.
 *
 * N1 One card per interactionId, however often it is asked: a re-ask gives the card a new request id, nothing else.
 * N2 A card leaves `open` only when it is settled, or withdrawn without an answer of ours on the way.
 * N3 An answer of ours is applied or lost by the hub's settled notice, never by our own hope.
 */
import type { RpcId } from "../protocol/envelope.ts";
import type { OpenInteraction, SettledNotice } from "../protocol/hub-methods.ts";
import { type Json, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { hubMeta } from "../protocol/meta.ts";

export type AnswerState = "sending" | "accepted";

export interface OwnAnswer {
  readonly state: AnswerState;
  readonly result: Json;
  /** Epoch milliseconds of the tap. */
  readonly at: number;
}

export interface InteractionCard {
  readonly interactionId: string;
  readonly sessionId: string | undefined;
  readonly instanceId: string | undefined;
  readonly method: string;
  readonly params: JsonObject;
  readonly openedAt: number;
  /** The id the hub asked under on the present socket; undefined when only the list told of it. */
  readonly rpcId: RpcId | undefined;
  /** True between a withdrawal and what explains it (settled, or asked again). */
  readonly isWithdrawn: boolean;
  readonly answer: OwnAnswer | undefined;
  /** Why the hub refused our last answer; the card is still open. */
  readonly rejected: string | undefined;
  /** Steps of a form that is asked as permissions, 0-based index. */
  readonly step: { readonly index: number; readonly of: number } | undefined;
}

export interface SettledCard {
  readonly card: InteractionCard;
  readonly notice: SettledNotice;
  /** Set when this client had answered: whether its answer was the one. */
  readonly own: "applied" | "lost" | undefined;
}

export interface InteractionState {
  /** Oldest first. */
  readonly open: readonly InteractionCard[];
  /** The latest settled cards, newest last. */
  readonly settled: readonly SettledCard[];
}

export const NO_INTERACTIONS: InteractionState = { open: [], settled: [] };

const SETTLED_MAX = 50;

export type InteractionInput =
  | {
      readonly kind: "asked";
      readonly rpcId: RpcId;
      readonly method: string;
      readonly params: JsonObject;
      readonly now: number;
    }
  | { readonly kind: "withdrawn"; readonly rpcId: RpcId }
  | { readonly kind: "settled"; readonly notice: SettledNotice; readonly isOurs: (notice: SettledNotice) => boolean }
  | { readonly kind: "rejected"; readonly interactionId: string; readonly reason: string }
  | { readonly kind: "answering"; readonly interactionId: string; readonly result: Json; readonly now: number }
  | { readonly kind: "accepted"; readonly interactionId: string }
  | { readonly kind: "answer-failed"; readonly interactionId: string; readonly reason: string }
  | { readonly kind: "listed"; readonly interactions: readonly OpenInteraction[] }
  /** The socket went: request ids mean nothing any more, the cards stay. */
  | { readonly kind: "link-lost" };

export function reduceInteractions(before: InteractionState, input: InteractionInput): InteractionState {
  switch (input.kind) {
    case "asked":
      return asked(before, input);
    case "withdrawn":
      return withdrawn(before, input.rpcId);
    case "settled":
      return settle(before, input.notice, input.isOurs(input.notice));
    case "rejected":
    case "answer-failed":
      return update(before, input.interactionId, { answer: undefined, rejected: input.reason });
    case "answering": {
      const answer: OwnAnswer = { state: "sending", result: input.result, at: input.now };
      return update(before, input.interactionId, { answer, rejected: undefined });
    }
    case "accepted":
      return accepted(before, input.interactionId);
    case "listed":
      return listed(before, input.interactions);
    case "link-lost":
      return { ...before, open: before.open.map((card) => ({ ...card, rpcId: undefined })) };
  }
}

/** Cards a person can act on or waits for, oldest first; of one session when given. */
export function shownCards(state: InteractionState, sessionId?: string): readonly InteractionCard[] {
  return state.open.filter((card) => !card.isWithdrawn && (sessionId === undefined || card.sessionId === sessionId));
}

function asked(before: InteractionState, input: Extract<InteractionInput, { kind: "asked" }>): InteractionState {
  const meta = hubMeta(input.params);
  // Without an id of the hub's (a plain agent) the request id is the identity: it is unique on its socket.
  const interactionId = stringAt(meta, "interactionId") ?? `request-${String(input.rpcId)}`;
  if (before.settled.some((entry) => entry.card.interactionId === interactionId)) return before;
  const openedAt = meta?.["openedAt"];
  const step = objectAt(meta, "step");
  const known = before.open.find((card) => card.interactionId === interactionId);
  const isSameStep = known === undefined || known.step?.index === readStep(step)?.index;
  const card: InteractionCard = {
    interactionId,
    sessionId: stringAt(input.params, "sessionId"),
    instanceId: known?.instanceId ?? stringAt(meta, "instance"),
    method: input.method,
    params: input.params,
    openedAt: typeof openedAt === "number" ? openedAt : (known?.openedAt ?? input.now),
    rpcId: input.rpcId,
    isWithdrawn: false,
    // The next step of a form asked as permissions wants an answer of its own.
    answer: isSameStep ? known?.answer : undefined,
    rejected: known?.rejected,
    step: readStep(step),
  };
  if (known === undefined) return { ...before, open: sorted([...before.open, card]) };
  return { ...before, open: before.open.map((other) => (other === known ? card : other)) };
}

function readStep(step: JsonObject | undefined): InteractionCard["step"] {
  const [index, of] = [step?.["index"], step?.["of"]];
  return typeof index === "number" && typeof of === "number" ? { index, of } : undefined;
}

function withdrawn(before: InteractionState, rpcId: RpcId): InteractionState {
  const card = before.open.find((other) => other.rpcId === rpcId);
  return card === undefined ? before : update(before, card.interactionId, { rpcId: undefined, isWithdrawn: true });
}

function settle(before: InteractionState, notice: SettledNotice, isBySelf: boolean): InteractionState {
  const card = before.open.find((other) => other.interactionId === notice.interactionId);
  if (card === undefined) return before;
  const isApplied = isBySelf && notice.outcome.action === "answered";
  const own = card.answer === undefined ? undefined : isApplied ? "applied" : "lost";
  const entry: SettledCard = { card, notice, own };
  return {
    open: before.open.filter((other) => other !== card),
    settled: [...before.settled, entry].slice(-SETTLED_MAX),
  };
}

function accepted(before: InteractionState, interactionId: string): InteractionState {
  const card = before.open.find((other) => other.interactionId === interactionId);
  if (card?.answer?.state !== "sending") return before;
  return update(before, interactionId, { answer: { ...card.answer, state: "accepted" } });
}

/** The list is the truth about what is open; cards it lacks have ended while nobody told us. */
function listed(before: InteractionState, interactions: readonly OpenInteraction[]): InteractionState {
  const open = interactions.map((entry) => {
    const known = before.open.find((card) => card.interactionId === entry.interactionId);
    return known === undefined ? cardOf(entry) : { ...known, instanceId: entry.instanceId, isWithdrawn: false };
  });
  const ids = new Set(interactions.map((entry) => entry.interactionId));
  // A card with a live request id was asked on this socket: it can be newer than the list.
  const newer = before.open.filter((card) => card.rpcId !== undefined && !ids.has(card.interactionId));
  return { ...before, open: sorted([...open, ...newer]) };
}

function cardOf(entry: OpenInteraction): InteractionCard {
  const params = entry.params;
  return {
    interactionId: entry.interactionId,
    sessionId: entry.sessionId,
    instanceId: entry.instanceId,
    method: entry.method,
    params: typeof params === "object" && params !== null && !Array.isArray(params) ? params : {},
    openedAt: entry.openedAt,
    rpcId: undefined,
    isWithdrawn: false,
    answer: undefined,
    rejected: undefined,
    step: undefined,
  };
}

function update(before: InteractionState, interactionId: string, change: Partial<InteractionCard>): InteractionState {
  const open = before.open.map((card) => (card.interactionId === interactionId ? { ...card, ...change } : card));
  return { ...before, open };
}

const sorted = (cards: readonly InteractionCard[]): readonly InteractionCard[] =>
  [...cards].sort((a, b) => a.openedAt - b.openedAt);
