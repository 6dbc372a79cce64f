/** The thin lines between messages: ends of turns, decisions, marks of loss, and what this app does not know yet. */
import { memo, type ReactElement } from "react";
import type { AwayDigest, MarkItem, RawItem, SettledItem, TurnEndItem } from "../../client/index.ts";
import { stringAt } from "../../protocol/json.ts";
import { useHubToday } from "../app/hooks.ts";
import { settledText } from "../approval/question.ts";
import { Icon } from "../ui/icon.tsx";
import { moneyText } from "../ui/money.ts";
import { atTime } from "../ui/time.ts";
import { Raw } from "./tool-details.tsx";

export const NoteRow = memo(
  ({ item }: { readonly item: TurnEndItem | SettledItem | MarkItem | RawItem }): ReactElement => {
    switch (item.kind) {
      case "turn-end":
        return <TurnEnd item={item} />;
      case "settled":
        return <Settled item={item} />;
      case "mark":
        return <Mark item={item} />;
      case "raw":
        return <Unknown item={item} />;
    }
  },
);

function Settled({ item }: { readonly item: SettledItem }): ReactElement {
  const today = useHubToday();
  return (
    <p className="note">
      <Icon name="shield" small /> {settledText(item.notice, today)}
    </p>
  );
}

const STOP_WORDS = new Map([
  ["end_turn", "Done"],
  ["max_tokens", "Stopped: the token limit was reached"],
  ["max_turn_requests", "Stopped: too many steps in one turn"],
  ["refusal", "The agent refused to go on"],
  ["cancelled", "Stopped"],
]);

function TurnEnd({ item }: { readonly item: TurnEndItem }): ReactElement {
  const today = useHubToday();
  const { stopReason, error } = item.notice;
  const words =
    error === undefined
      ? (STOP_WORDS.get(stopReason ?? "") ?? stopReason ?? "Done")
      : `The turn failed: ${error.message}`;
  return (
    <div className={`divider ${error === undefined ? (stopReason ?? "") : "failed"}`}>
      <span>
        {words} <time>{atTime(item.ts, today)}</time>
      </span>
    </div>
  );
}

const MARK_WORDS: Readonly<Record<Exclude<MarkItem["mark"], "away">, string>> = {
  gap: "Something may be missing here: the hub no longer had everything since you were last here.",
  reset: "The history was loaded anew: the agent or its session was restarted.",
};

/** Nothing is missing of what was said and done: only what lay between. */
const JOINED_WORDS = "What came while you were away is joined here: steps in between are not shown.";

function Mark({ item }: { readonly item: MarkItem }): ReactElement {
  if (item.mark === "away") return <Away digest={item.digest} />;
  return (
    <p className="note mark" data-mark={item.mark}>
      <Icon name="alert" small />
      <span>
        {item.reason === "coalesced" ? JOINED_WORDS : MARK_WORDS[item.mark]}
        {item.reason !== "" && <span className="muted"> ({item.reason})</span>}
      </span>
    </p>
  );
}

const counted = (count: number, one: string, many: string): string | undefined =>
  count === 0 ? undefined : `${count} ${count === 1 ? one : many}`;

function Away({ digest }: { readonly digest: AwayDigest | undefined }): ReactElement {
  const facts = [
    counted(digest?.turns ?? 0, "turn ended", "turns ended"),
    counted(digest?.failedTurns ?? 0, "turn failed", "turns failed"),
    counted(digest?.decisions ?? 0, "decision", "decisions"),
    counted(digest?.files ?? 0, "file changed", "files changed"),
    counted(digest?.failures ?? 0, "tool failed", "tools failed"),
    digest?.cost === undefined ? undefined : `${moneyText(digest.cost.amount, digest.cost.currency)} spent`,
  ].filter((fact) => fact !== undefined);
  return (
    <div className="divider away" data-mark="away">
      <span>While you were away: {facts.join(", ")}</span>
    </div>
  );
}

/** A kind of update newer than this app: shown for what it is, never dropped. */
function Unknown({ item }: { readonly item: RawItem }): ReactElement {
  const kind = stringAt(item.update, "sessionUpdate") ?? "update";
  const text = stringAt(item.update, "message") ?? stringAt(item.update, "text");
  return (
    <div className="note">
      <Icon name="info" small />
      <div>
        {kind === "notice" && text !== undefined ? text : <Raw name={`Update “${kind}”`} value={item.update} />}
      </div>
    </div>
  );
}
