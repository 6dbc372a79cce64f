/** The whole of what a permission is about: command, directory, diffs, or else everything the agent sent. */
import { lazy, type ReactElement, Suspense } from "react";
import { Markdown } from "../markdown/markdown.tsx";
import { DiffFiles } from "../transcript/diff-files.tsx";
import { Raw } from "../transcript/tool-details.tsx";
import { Icon } from "../ui/icon.tsx";
import { hasHidden } from "../ui/visible-runs.ts";
import { VisibleText } from "../ui/visible-text.tsx";
import type { Permission } from "./alike.ts";
import type { Reading } from "./end-seen.ts";

const DiffView = lazy(async () => ({ default: (await import("../transcript/diff-view.tsx")).DiffView }));

export function PermissionBody({ question }: { readonly question: Permission }): ReactElement {
  const { title, command, cwd, description, diffs, locations, texts, rawInput, choices } = question;
  const isHiding = [
    title,
    command ?? "",
    description ?? "",
    ...diffs.flatMap((diff) => [diff.path, diff.newText]),
    ...choices.map((choice) => choice.name),
  ].some(hasHidden);
  return (
    <>
      {description !== undefined && (
        <p className="muted">
          <VisibleText text={description} />
        </p>
      )}
      {command !== undefined && (
        <pre className="plain-block command">
          <VisibleText text={command} marksOperators />
        </pre>
      )}
      {cwd !== undefined && (
        <p className="muted mono">
          in <VisibleText text={cwd} />
        </p>
      )}
      {isHiding && (
        <p className="notice warn">
          <Icon name="alert" /> This holds invisible characters. They are shown by name.
        </p>
      )}
      <DiffFiles diffs={diffs} />
      <Suspense
        fallback={
          <p className="muted" data-loading>
            Loading…
          </p>
        }
      >
        {diffs.map((diff, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a file may be changed twice, and they come whole
          <DiffView key={index} diff={diff} />
        ))}
      </Suspense>
      {texts.map((text) => (
        <Markdown key={text} text={text} />
      ))}
      {command === undefined && diffs.length === 0 && locations.length > 0 && (
        <ul className="plain locations mono">
          {locations.map((location) => (
            <li key={location}>
              <VisibleText text={location} />
            </li>
          ))}
        </ul>
      )}
      {/* Where nothing else says what will happen, this is it. */}
      <Raw name="Everything the agent sent" value={rawInput} isWhole={command === undefined && diffs.length === 0} />
    </>
  );
}

/** What is still to be read before it can be allowed. */
export function ReadingHint({ reading }: { readonly reading: Reading }): ReactElement | null {
  if (reading === "seen") return null;
  return (
    <p className="question-hint">
      {reading === "folded" ? "Open all of it and scroll to the end to allow." : "Scroll to the end to allow."}
    </p>
  );
}
