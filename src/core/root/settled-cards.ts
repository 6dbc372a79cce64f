/**
 * Cards whose interaction was settled while the agent says nothing more of them (X11): some agents send no update after a
 * rejection, and clients that ignore `$/cancel_request` would show an open question for ever.
 */
import type { SettledOutcome } from "../../protocol/hub-methods.ts";
import type { Publisher } from "./publisher.ts";
import type { RootSession } from "./session.ts";

/** Cards remembered per turn: more than any turn asks about. */
const CARDS_MAX = 256;

/** An interaction about `toolCallId` was settled. */
export function noteSettledCard(session: RootSession, toolCallId: string, outcome: SettledOutcome): void {
  if (session.unsettledCards.size >= CARDS_MAX) return;
  const isAllowed = outcome.action === "answered" && outcome.optionKind?.startsWith("allow") === true;
  session.unsettledCards.set(toolCallId, isAllowed);
}

/** The turn has ended, well or not: cards nobody closed get their final state, marked as ours. */
export function finishCards(publisher: Publisher, session: RootSession, isWell: boolean, now: number): void {
  const cards = [...session.unsettledCards];
  session.unsettledCards.clear();
  for (const [toolCallId, isAllowed] of cards) {
    const status = isAllowed && isWell ? "completed" : "failed";
    publisher.synthesised(session, { sessionUpdate: "tool_call_update", toolCallId, status }, now);
  }
}
