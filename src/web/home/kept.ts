/** The sessions the device has kept, for the time without a hub. */
import { useEffect, useState } from "react";
import type { HistorySession } from "../../client/index.ts";
import { useServices } from "../app/hooks.ts";

const NONE: readonly HistorySession[] = [];

/** Read only where they are wanted: each is a whole transcript. */
export function useKept(isWanted: boolean): readonly HistorySession[] {
  const { keeper, hubClock } = useServices();
  const [kept, setKept] = useState(NONE);
  useEffect(() => {
    if (!isWanted) return;
    let isCurrent = true;
    void keeper.kept().then((sessions) => {
      if (!isCurrent) return;
      setKept(
        sessions.map(({ sessionId, title, savedAt }) => ({
          sessionId,
          title,
          updatedAt: hubClock.at(savedAt),
          instanceId: undefined,
          workspace: undefined,
          agent: undefined,
          state: undefined,
          last: undefined,
          snippet: undefined,
        })),
      );
    });
    return () => {
      isCurrent = false;
    };
  }, [isWanted, keeper, hubClock]);
  return isWanted ? kept : NONE;
}
