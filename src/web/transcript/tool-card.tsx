/** A tool call: one line, and everything about it when unfolded. */
import { memo, type ReactElement } from "react";
import type { ToolItem } from "../../client/index.ts";
import type { SettledNotice } from "../../protocol/hub-methods.ts";
import { useHubToday } from "../app/hooks.ts";
import { settledText } from "../approval/question.ts";
import { Icon } from "../ui/icon.tsx";
import type { IconName } from "../ui/icon-paths.ts";
import { atTime } from "../ui/time.ts";
import { VisibleText } from "../ui/visible-text.tsx";
import { useOpen } from "./open-state.tsx";
import { ToolDetails } from "./tool-details.tsx";
import { STATUS_WORDS, summarize, type ToolStatus } from "./tool-summary.ts";

export interface ToolCardProps {
  readonly item: ToolItem;
  readonly settled: readonly SettledNotice[];
}

const NONE: readonly SettledNotice[] = [];

export const ToolCard = memo(({ item, settled = NONE }: ToolCardProps): ReactElement => {
  const [isOpen, toggle] = useOpen(item.key);
  const today = useHubToday();
  const summary = summarize(item);
  return (
    <article className={`tool ${summary.status}`} aria-label={`Tool: ${summary.title}`}>
      <button type="button" className="tool-line" aria-expanded={isOpen} onClick={toggle}>
        <Icon name={summary.icon} />
        <span className="tool-title truncate">
          <VisibleText text={summary.title} />
          {summary.target !== undefined && (
            <span className="tool-target mono">
              {" "}
              <VisibleText text={summary.target} />
            </span>
          )}
        </span>
        {summary.result !== undefined && <span className="tool-result mono">{summary.result}</span>}
        {item.ts > 0 && <time className="tool-time">{atTime(item.ts, today)}</time>}
        <StatusMark status={summary.status} />
      </button>
      {settled.map((notice) => (
        <p className="settled-line" key={notice.interactionId}>
          <Icon name={notice.outcome.optionKind?.startsWith("reject") === true ? "close" : "shield"} small />{" "}
          {settledText(notice, today)}
        </p>
      ))}
      {isOpen && <ToolDetails card={item.card} />}
    </article>
  );
});

const STATUS_ICONS: Readonly<Record<ToolStatus, IconName>> = {
  pending: "clock",
  running: "clock",
  done: "check",
  failed: "alert",
};

function StatusMark({ status }: { readonly status: ToolStatus }): ReactElement {
  return (
    <span className={`tool-status ${status}`}>
      {status === "running" ? <span className="spinner" /> : <Icon name={STATUS_ICONS[status]} small />}
      <span className="hidden-text">{STATUS_WORDS[status]}</span>
    </span>
  );
}

export interface ToolGroupProps {
  readonly rowKey: string;
  readonly items: readonly ToolItem[];
}

export const ToolGroup = memo(({ rowKey, items }: ToolGroupProps): ReactElement => {
  const [isOpen, toggle] = useOpen(rowKey);
  return (
    <article className="tool group" aria-label={`${items.length} look-ups`}>
      <button type="button" className="tool-line" aria-expanded={isOpen} onClick={toggle}>
        <Icon name="list" />
        <span className="tool-title truncate">
          {items.length} look-ups <span className="tool-target">{groupNames(items)}</span>
        </span>
        <StatusMark status="done" />
      </button>
      {isOpen && (
        <div className="group-items">
          {items.map((item) => (
            <ToolCard key={item.key} item={item} settled={NONE} />
          ))}
        </div>
      )}
    </article>
  );
});

const groupNames = (items: readonly ToolItem[]): string =>
  items
    .map((item) => summarize(item))
    .map((summary) => summary.target ?? summary.title)
    .join(", ");
