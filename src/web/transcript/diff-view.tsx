/** A unified diff with word marks. Unchanged stretches are left out; a big one is opened on demand. */
import { type ReactElement, useMemo, useState } from "react";
import type { DiffPart } from "../approval/question.ts";
import { VisibleText } from "../ui/visible-text.tsx";
import { type DiffHunk, type DiffLine, diffHunks } from "./diff-lines.ts";

const LINES_SHOWN = 400;
const CHARS_MAX = 400_000;

export function DiffView({ diff }: { readonly diff: DiffPart }): ReactElement {
  const isHuge = diff.oldText.length + diff.newText.length > CHARS_MAX;
  const [isWanted, setWanted] = useState(!isHuge);
  return (
    <figure className="diff">
      <figcaption className="mono">
        <bdi>{diff.path}</bdi>
        {diff.oldText === "" && <span className="chip ok">new file</span>}
      </figcaption>
      {isWanted ? (
        <DiffBody diff={diff} />
      ) : (
        <button type="button" className="button small" data-more onClick={() => setWanted(true)}>
          A big diff. Open anyway
        </button>
      )}
    </figure>
  );
}

function DiffBody({ diff }: { readonly diff: DiffPart }): ReactElement {
  const hunks = useMemo(() => diffHunks(diff.oldText, diff.newText), [diff.oldText, diff.newText]);
  const [limit, setLimit] = useState(LINES_SHOWN);
  const total = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  let left = limit;
  const shown: DiffHunk[] = [];
  for (const hunk of hunks) {
    if (left <= 0) break;
    shown.push({ ...hunk, lines: hunk.lines.slice(0, left) });
    left -= hunk.lines.length;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keyboard
    <section className="diff-body" tabIndex={0} aria-label={`Changes in ${diff.path}`}>
      {hunks.length === 0 && <p className="muted">No difference</p>}
      {shown.map((hunk) => (
        <Hunk key={`${hunk.lines[0]?.oldNumber}/${hunk.lines[0]?.newNumber}`} hunk={hunk} />
      ))}
      {total > limit && (
        <button type="button" className="button small" data-more onClick={() => setLimit(limit * 5)}>
          {total - limit} more lines
        </button>
      )}
    </section>
  );
}

function Hunk({ hunk }: { readonly hunk: DiffHunk }): ReactElement {
  return (
    <>
      {hunk.skipped > 0 && <div className="diff-skip">{hunk.skipped} unchanged lines</div>}
      {hunk.lines.map((line) => (
        <Line key={`${line.kind}${line.oldNumber ?? ""}/${line.newNumber ?? ""}`} line={line} />
      ))}
    </>
  );
}

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { same: " ", added: "+", removed: "−" };
const NAMES: Readonly<Record<DiffLine["kind"], string>> = { same: "", added: "added: ", removed: "removed: " };

function Line({ line }: { readonly line: DiffLine }): ReactElement {
  return (
    <div className={`diff-line ${line.kind}`}>
      <span className="diff-number" aria-hidden="true">
        {line.newNumber ?? line.oldNumber}
      </span>
      <span className="diff-sign" aria-hidden="true">
        {SIGNS[line.kind]}
      </span>
      <span className="diff-text">
        <span className="hidden-text">{NAMES[line.kind]}</span>
        {line.words.map((word, index) =>
          word.isChanged ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: words of one line never move
            <span className="word" key={index}>
              <VisibleText text={word.text} />
            </span>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: words of one line never move
            <VisibleText key={index} text={word.text} />
          ),
        )}
      </span>
    </div>
  );
}
