/** Where the open questions of a session stand. What shows them comes when there is one, or in a quiet moment before. */
import { type ReactElement, useEffect, useState } from "react";
import { type SettledCard, shownCards } from "../../client/index.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { late } from "../ui/late.tsx";

const SheetBody = late(async () => (await import("./sheet-body.tsx")).SheetBody);

/** How long a settled question says who settled it before it folds away. */
const SETTLED_MS = 6000;

export interface ApprovalSheetProps {
  readonly sessionId: string;
  readonly canAnswer: boolean;
}

export function ApprovalSheet({ sessionId, canAnswer }: ApprovalSheetProps): ReactElement | null {
  const { client } = useServices();
  const state = useObservable(client.interactions);
  const cards = shownCards(state, sessionId);
  const settled = useRecentlySettled(state.settled, sessionId);
  const [wasNeeded, setNeeded] = useState(false);
  const isNeeded = wasNeeded || cards.length > 0 || settled !== undefined;
  // From then on it stays: it knows which question was shown, and whether it was folded away.
  if (isNeeded && !wasNeeded) setNeeded(true);
  return isNeeded ? <SheetBody cards={cards} settled={settled} canAnswer={canAnswer} /> : null;
}

/** The latest settlement of this session, for a few seconds after it came. */
function useRecentlySettled(settled: readonly SettledCard[], sessionId: string): SettledCard | undefined {
  const latest = settled.findLast((entry) => entry.card.sessionId === sessionId);
  const [first] = useState(latest);
  const [expired, setExpired] = useState<SettledCard>();
  useEffect(() => {
    if (latest === undefined) return;
    const timer = setTimeout(() => setExpired(latest), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [latest]);
  return latest === first || latest === expired ? undefined : latest;
}
