/** A unified diff with word marks. Unchanged stretches are left out; a big one is opened on demand. */
import { type ReactElement, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useObservable, useServices } from "../app/hooks.ts";
import type { DiffPart } from "../approval/question.ts";
import { IconButton } from "../ui/icon-button.tsx";
import { VisibleText } from "../ui/visible-text.tsx";
import { type DiffColours, piecesOf } from "./diff-colours.ts";
import { changeStarts, type DiffHunk, type DiffLine, diffHunks, firstLines } from "./diff-lines.ts";
import { useDiffColours } from "./use-diff-colours.ts";
import { WrapButton } from "./wrap-button.tsx";

const LINES_SHOWN = 400;
const CHARS_MAX = 400_000;

export interface DiffViewProps {
  readonly diff: DiffPart;
  /** Offers long lines unbroken. Never where something is decided about: a line's end would be out of sight. */
  readonly mayUnwrap?: boolean;
}

export function DiffView({ diff, mayUnwrap = false }: DiffViewProps): ReactElement {
  const isHuge = diff.oldText.length + diff.newText.length > CHARS_MAX;
  const [isWanted, setWanted] = useState(!isHuge);
  return (
    <figure className="diff">
      {isWanted ? (
        <DiffBody diff={diff} mayUnwrap={mayUnwrap} />
      ) : (
        <>
          <DiffCaption diff={diff} />
          <button type="button" className="button small" data-more onClick={() => setWanted(true)}>
            A big diff. Open anyway
          </button>
        </>
      )}
    </figure>
  );
}

function DiffCaption({ diff, children }: { readonly diff: DiffPart; readonly children?: ReactNode }): ReactElement {
  return (
    <figcaption className="mono">
      <VisibleText text={diff.path} />
      {diff.oldText === "" && <span className="chip ok">new file</span>}
      {children}
    </figcaption>
  );
}

function DiffBody({ diff, mayUnwrap }: Required<DiffViewProps>): ReactElement {
  const { settings } = useServices();
  const { wrapLines } = useObservable(settings.settings);
  const colours = useDiffColours(diff);
  const hunks = useMemo(() => diffHunks(diff.oldText, diff.newText), [diff.oldText, diff.newText]);
  const [limit, setLimit] = useState(LINES_SHOWN);
  const total = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const shown = useMemo(() => firstLines(hunks, limit), [hunks, limit]);
  const changes = useMemo(() => changeStarts(shown), [shown]);
  const [at, setAt] = useState<number>();
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (at !== undefined && body.current !== null) showCurrent(body.current);
  }, [at]);
  const current = at === undefined ? undefined : changes[at];
  return (
    <>
      <DiffCaption diff={diff}>
        <span className="row-actions">
          {changes.length > 1 && <ChangeButtons at={at} count={changes.length} onGo={setAt} />}
          {mayUnwrap && <WrapButton />}
        </span>
      </DiffCaption>
      {/* biome-ignore lint/a11y/useSemanticElements: as a section each diff would be a landmark of the page */}
      <div
        ref={body}
        role="group"
        className={mayUnwrap && !wrapLines ? "diff-body unwrapped" : "diff-body"}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keyboard
        tabIndex={0}
        aria-label={`Changes in ${diff.path}`}
      >
        {hunks.length === 0 && <p className="muted">No difference</p>}
        {shown.map((hunk) => (
          <Hunk
            key={`${hunk.lines[0]?.oldNumber}/${hunk.lines[0]?.newNumber}`}
            hunk={hunk}
            colours={colours}
            current={current}
          />
        ))}
        {total > limit && (
          <button type="button" className="button small" data-more onClick={() => setLimit(limit * 5)}>
            {total - limit} more lines
          </button>
        )}
      </div>
    </>
  );
}

interface ChangeButtonsProps {
  /** Undefined before the first step. */
  readonly at: number | undefined;
  readonly count: number;
  readonly onGo: (at: number) => void;
}

function ChangeButtons({ at, count, onGo }: ChangeButtonsProps): ReactElement {
  return (
    <>
      <span className="muted" role="status">
        {at === undefined ? `${count} changes` : `${at + 1} of ${count}`}
      </span>
      <IconButton
        icon="arrowUp"
        label="Previous change"
        disabled={at === undefined || at === 0}
        onClick={() => onGo((at ?? 0) - 1)}
      />
      <IconButton
        icon="arrowDown"
        label="Next change"
        disabled={at === count - 1}
        onClick={() => onGo(at === undefined ? 0 : at + 1)}
      />
    </>
  );
}

/** Moves the diff alone: the transcript around it stays where the reader has it. */
function showCurrent(body: HTMLElement): void {
  const line = body.querySelector("[aria-current]");
  if (line === null) return;
  const third = body.clientHeight / 3;
  body.scrollTop += line.getBoundingClientRect().top - body.getBoundingClientRect().top - third;
}

interface HunkProps {
  readonly hunk: DiffHunk;
  readonly colours: DiffColours | undefined;
  readonly current: DiffLine | undefined;
}

function Hunk({ hunk, colours, current }: HunkProps): ReactElement {
  return (
    <>
      {hunk.skipped > 0 && <div className="diff-skip">{hunk.skipped} unchanged lines</div>}
      {hunk.lines.map((line) => (
        <Line
          key={`${line.kind}${line.oldNumber ?? ""}/${line.newNumber ?? ""}`}
          line={line}
          colours={colours}
          isCurrent={line === current}
        />
      ))}
    </>
  );
}

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { same: " ", added: "+", removed: "−" };
const NAMES: Readonly<Record<DiffLine["kind"], string>> = { same: "", added: "added: ", removed: "removed: " };

interface LineProps {
  readonly line: DiffLine;
  readonly colours: DiffColours | undefined;
  readonly isCurrent: boolean;
}

function Line({ line, colours, isCurrent }: LineProps): ReactElement {
  return (
    <div className={`diff-line ${line.kind}`} aria-current={isCurrent ? "location" : undefined}>
      <span className="diff-number" aria-hidden="true">
        {line.newNumber ?? line.oldNumber}
      </span>
      <span className="diff-sign" aria-hidden="true">
        {SIGNS[line.kind]}
      </span>
      <span className="diff-text">
        <span className="hidden-text">{NAMES[line.kind]}</span>
        {piecesOf(line, colours).map(({ text, isChanged, className }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one line never move
          <span className={isChanged ? "word" : className} key={index}>
            <VisibleText text={text} />
          </span>
        ))}
      </span>
    </div>
  );
}
