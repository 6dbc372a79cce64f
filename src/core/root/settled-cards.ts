/**
 * Cards whose interaction was settled while the agent says nothing more of them (X11): some agents send no update after a
 * rejection, and clients that ignore `$/cancel_request` would show an open question for ever.
 */
import type { SettledOutcome } from "../../protocol/hub-methods.ts";
import { PRIMARY_KEY } from "./calls.ts";
import type { Publisher } from "./publisher.ts";
import type { RootSession } from "./session.ts";

/** Cards remembered per turn: more than any turn asks about. */
const CARDS_MAX = 256;

/** What a card ends as, and whether the editor is to be told: not of its own decision, which is between it and its agent. */
export interface SettledCard {
  readonly isAllowed: boolean;
  readonly isForPrimary: boolean;
}

/** An interaction about `toolCallId` was settled; `isByRemote`: by somebody the editor cannot see. */
export function noteSettledCard(
  session: RootSession,
  toolCallId: string,
  outcome: SettledOutcome,
  isByRemote: boolean,
): void {
  if (session.unsettledCards.size >= CARDS_MAX) return;
  const isAllowed = outcome.action === "answered" && outcome.optionKind?.startsWith("allow") === true;
  session.unsettledCards.set(toolCallId, { isAllowed, isForPrimary: isByRemote });
}

/** The turn has ended, well or not: cards nobody closed get their final state, marked as ours. */
export function finishCards(publisher: Publisher, session: RootSession, isWell: boolean, now: number): void {
  const cards = [...session.unsettledCards];
  session.unsettledCards.clear();
  for (const [toolCallId, { isAllowed, isForPrimary }] of cards) {
    const update = {
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: isAllowed && isWell ? "completed" : "failed",
    };
    publisher.synthesised(session, update, now, isForPrimary ? undefined : PRIMARY_KEY);
  }
}
