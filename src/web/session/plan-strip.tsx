/** The agent's plan, pinned: the step at hand in one line, all of it on a tap. */
import { type ReactElement, useState } from "react";
import { type JsonObject, stringAt } from "../../protocol/json.ts";
import { Icon } from "../ui/icon.tsx";
import type { IconName } from "../ui/icon-paths.ts";

export interface PlanStripProps {
  readonly plan: readonly JsonObject[] | undefined;
  readonly isRunning: boolean;
}

export function PlanStrip({ plan, isRunning }: PlanStripProps): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  if (plan === undefined || plan.length === 0) return null;
  const done = plan.filter((entry) => entry["status"] === "completed").length;
  const current =
    plan.find((entry) => entry["status"] === "in_progress") ?? plan.find((entry) => entry["status"] !== "completed");
  if (done === plan.length && !isRunning && !isOpen) return null;
  return (
    <section className="plan" aria-label="Plan">
      <button type="button" className="plan-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="chip accent">
          {done}/{plan.length}
        </span>
        <span className="truncate">{current === undefined ? "Plan done" : stringAt(current, "content")}</span>
        <Icon name="chevron" small />
      </button>
      {isOpen && (
        <ol className="plain plan-entries">
          {plan.map((entry, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a plan comes whole
            <PlanEntry key={index} entry={entry} />
          ))}
        </ol>
      )}
    </section>
  );
}

const ICONS = new Map<string, IconName>([
  ["completed", "check"],
  ["in_progress", "bolt"],
]);

const WORDS = new Map([
  ["completed", "done: "],
  ["in_progress", "now: "],
]);

function PlanEntry({ entry }: { readonly entry: JsonObject }): ReactElement {
  const status = stringAt(entry, "status") ?? "pending";
  return (
    <li className={status}>
      <Icon name={ICONS.get(status) ?? "clock"} small />
      <span>
        <span className="hidden-text">{WORDS.get(status) ?? "later: "}</span>
        {stringAt(entry, "content")}
      </span>
    </li>
  );
}
