/** The files of a change of several, with how much of each: a tap leads to its diff. */
import type { ReactElement } from "react";
import type { DiffPart } from "../approval/question.ts";
import { Icon } from "../ui/icon.tsx";
import { VisibleText } from "../ui/visible-text.tsx";
import { lineCounts } from "./tool-summary.ts";

export function DiffFiles({ diffs }: { readonly diffs: readonly DiffPart[] }): ReactElement | null {
  if (diffs.length < 2) return null;
  return (
    <nav className="diff-files" aria-label={`${diffs.length} files`}>
      <ul className="plain">
        {diffs.map((diff, index) => {
          const { added, removed } = lineCounts(diff.oldText, diff.newText);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a file may be changed twice, and they come whole
            <li key={index}>
              <button type="button" onClick={({ currentTarget }) => show(currentTarget, index)}>
                <Icon name="file" small />
                <span className="diff-path mono">
                  <VisibleText text={diff.path} />
                </span>
                <span className="tool-result mono">
                  <span className="hidden-text">lines </span>+{added} −{removed}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

/** The diffs stand in this order in the part of the page the list heads. */
function show(button: HTMLElement, index: number): void {
  const diff = button.closest(".diff-files")?.parentElement?.querySelectorAll(".diff")[index];
  diff?.scrollIntoView({ block: "start" });
  diff?.querySelector<HTMLElement>(".diff-body")?.focus({ preventScroll: true });
}
