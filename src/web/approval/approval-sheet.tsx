/** Where the open questions of a session stand. What shows them comes when there is one, or in a quiet moment before. */
import { type ReactElement, useState } from "react";
import { shownCards } from "../../client/index.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { late } from "../ui/late.tsx";
import { useRecentlySettled } from "./settled-strip.tsx";

const SheetBody = late(async () => (await import("./sheet-body.tsx")).SheetBody);

export interface ApprovalSheetProps {
  readonly sessionId: string;
  readonly canAnswer: boolean;
}

export function ApprovalSheet({ sessionId, canAnswer }: ApprovalSheetProps): ReactElement | null {
  const { client } = useServices();
  const cards = shownCards(useObservable(client.interactions), sessionId);
  const settled = useRecentlySettled(({ card }) => card.sessionId === sessionId);
  const [wasNeeded, setNeeded] = useState(false);
  const isNeeded = wasNeeded || cards.length > 0 || settled !== undefined;
  // From then on it stays: it knows which question was shown, and whether it was folded away.
  if (isNeeded && !wasNeeded) setNeeded(true);
  return isNeeded ? <SheetBody cards={cards} settled={settled} canAnswer={canAnswer} /> : null;
}
