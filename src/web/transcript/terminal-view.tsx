/** Terminal output with its colours: the tail first, the rest on demand, all of it searched and copied. */
import { type KeyboardEvent, memo, type ReactElement, useEffect, useMemo, useRef, useState } from "react";
import { useObservable, useServices, useThrottled } from "../app/hooks.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { OutputFind } from "./output-find.tsx";
import { OutputLine } from "./output-line.tsx";
import { lineAt, marksOf } from "./output-marks.ts";
import { type Output, TerminalReader } from "./terminal-lines.ts";
import { type Find, useFind } from "./use-find.ts";
import { type OutputWindow, useOutputWindow } from "./use-output-window.ts";
import { WrapButton } from "./wrap-button.tsx";
import "./terminal.css";

/** A program writes faster than anybody reads. */
const PAINT_MS = 100;

export interface TerminalViewProps {
  readonly text: string;
  /** Its beginning was too much to be kept. */
  readonly isCut?: boolean;
}

export function TerminalView({ text, isCut = false }: TerminalViewProps): ReactElement {
  return <TerminalOutput text={useThrottled(text, PAINT_MS)} isCut={isCut} />;
}

const TerminalOutput = memo(({ text, isCut }: Required<TerminalViewProps>): ReactElement => {
  const { settings } = useServices();
  const { wrapLines } = useObservable(settings.settings);
  const [reader] = useState(() => new TerminalReader());
  const output = useMemo(() => reader.read(text), [reader, text]);
  const scroller = useRef<HTMLPreElement>(null);
  const view = useOutputWindow(scroller, output);
  const find = useFind(output);
  const { matches, length, current } = find;
  const { from, to } = view;
  const marks = useMemo(
    () => marksOf(output, from, to, { matches, length, current }),
    [output, from, to, matches, length, current],
  );
  useCurrentInView(scroller, output, view, find);
  const finding = useFinding(find, () => output.starts[from] ?? 0);
  return (
    <figure className="terminal" onKeyDown={finding.onKeyDown}>
      <figcaption>
        <span>Output</span>
        <span className="row-actions">
          <IconButton icon="search" label="Find in output" onClick={finding.open} />
          <WrapButton />
          <CopyButton text={withoutLastNewline(output.plain)} label="Copy output" />
        </span>
      </figcaption>
      {find.isOpen && <OutputFind find={find} onClose={finding.close} />}
      <MoreButton count={from} words="earlier" onClick={view.earlier} />
      {isCut && from === 0 && <p className="output-cut">What came before is not kept on this device.</p>}
      <pre
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: output is scrolled by keyboard
        tabIndex={0}
        className={wrapLines ? "wrap" : undefined}
        onScroll={view.onScroll}
      >
        {output.lines.slice(from, to).map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its number
          <OutputLine key={from + index} index={from + index} line={line} marks={marks.get(from + index)} />
        ))}
      </pre>
      <MoreButton count={output.lines.length - to} words="later" onClick={view.later} />
    </figure>
  );
});

interface MoreButtonProps {
  readonly count: number;
  readonly words: string;
  readonly onClick: () => void;
}

function MoreButton({ count, words, onClick }: MoreButtonProps): ReactElement | null {
  if (count === 0) return null;
  return (
    <button type="button" className="button small" onClick={onClick}>
      {count.toLocaleString()} {words} {count === 1 ? "line" : "lines"}
    </button>
  );
}

const withoutLastNewline = (text: string): string => (text.endsWith("\n") ? text.slice(0, -1) : text);

interface Finding {
  readonly open: () => void;
  readonly close: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Opens the search by button and by key, and gives the focus back where it came from. */
function useFinding(find: Find, place: () => number): Finding {
  const before = useRef<Element>(null);
  const open = (): void => {
    before.current = document.activeElement;
    find.open(place());
  };
  return {
    open,
    close: () => {
      find.close();
      if (before.current instanceof HTMLElement) before.current.focus();
    },
    onKeyDown: (event) => {
      if (event.defaultPrevented || event.altKey || event.target instanceof HTMLInputElement) return;
      const hasCommand = event.ctrlKey || event.metaKey;
      // The browser's own search would find the painted lines alone; asked twice, it comes.
      if (!(hasCommand ? event.key === "f" : event.key === "/")) return;
      event.preventDefault();
      open();
    },
  };
}

/** Loads the lines of the current match, then moves the output, and the transcript no more than it must. */
function useCurrentInView(
  scroller: { readonly current: HTMLElement | null },
  output: Output,
  view: OutputWindow,
  { asked, isSettled, matches, current }: Find,
): void {
  const shown = useRef(0);
  const at = matches[current];
  // After every render: the match may have to be found first, and then its lines to be painted.
  useEffect(() => {
    if (shown.current === asked || !isSettled) return;
    const line = at === undefined ? undefined : lineAt(output, at);
    if (line !== undefined && view.include(line)) return;
    shown.current = asked;
    if (line !== undefined && scroller.current !== null) showCurrent(scroller.current);
  });
}

function showCurrent(pre: HTMLElement): void {
  const found = pre.querySelector("mark[aria-current]");
  if (found === null) return;
  const [place, frame] = [found.getBoundingClientRect(), pre.getBoundingClientRect()];
  if (place.top < frame.top || place.bottom > frame.bottom) pre.scrollTop += place.top - frame.top - frame.height / 3;
  if (place.left < frame.left || place.right > frame.right) pre.scrollLeft += place.left - frame.left - frame.width / 3;
  found.scrollIntoView({ block: "nearest", inline: "nearest" });
}
