/** How a question ended, for a few seconds after it did. */
import { type ReactElement, useEffect, useState } from "react";
import type { SettledCard } from "../../client/index.ts";
import { useHubToday, useObservable, useServices } from "../app/hooks.ts";
import { Icon } from "../ui/icon.tsx";
import { VisibleText } from "../ui/visible-text.tsx";
import { questionTitle, settledText } from "./question.ts";

/** How long a settled question says who settled it before it folds away. */
const SETTLED_MS = 6000;

/** The latest settlement among those `isMeant`, for a few seconds after it came. */
export function useRecentlySettled(isMeant: (entry: SettledCard) => boolean): SettledCard | undefined {
  const { settled } = useObservable(useServices().client.interactions);
  const latest = settled.findLast(isMeant);
  const [first] = useState(latest);
  const [expired, setExpired] = useState<SettledCard>();
  useEffect(() => {
    if (latest === undefined) return;
    const timer = setTimeout(() => setExpired(latest), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [latest]);
  return latest === first || latest === expired ? undefined : latest;
}

export function SettledStrip({ settled }: { readonly settled: SettledCard }): ReactElement {
  const { card, notice, own } = settled;
  const today = useHubToday();
  return (
    <p className="settled-strip" role="status">
      <Icon name={own === "lost" ? "info" : "check"} small />
      <span className="truncate">
        <VisibleText text={questionTitle(card)} />
      </span>
      <strong>{settledText(notice, today, own)}</strong>
    </p>
  );
}
