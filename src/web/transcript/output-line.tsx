/** One painted line of an output, with what was found in it. */
import { memo, type ReactElement, type ReactNode } from "react";
import type { Mark } from "./output-marks.ts";
import type { StyledRun } from "./terminal-line.ts";
import type { Line } from "./terminal-lines.ts";

export interface OutputLineProps {
  readonly index: number;
  readonly line: Line;
  /** In order, undefined when nothing was found here. */
  readonly marks: readonly Mark[] | undefined;
}

export const OutputLine = memo(
  ({ index, line, marks }: OutputLineProps): ReactElement => (
    <span data-line={index}>
      {marks === undefined
        ? line.runs.map((run, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: runs of one line never move
            <Run key={at} run={run} />
          ))
        : withMarks(line.runs, marks)}
      {line.isEnded && "\n"}
    </span>
  ),
);

function Run({ run }: { readonly run: StyledRun }): ReactNode {
  const { text, style } = run;
  if (style === undefined) return text;
  const inline = {
    ...(style.color !== undefined && { color: `rgb(${style.color})` }),
    ...(style.background !== undefined && { background: `rgb(${style.background})` }),
  };
  return (
    <span className={style.className} style={inline}>
      {text}
    </span>
  );
}

/** A found place may go over several runs, and a run may hold several places. */
function withMarks(runs: readonly StyledRun[], marks: readonly Mark[]): readonly ReactNode[] {
  const nodes: ReactNode[] = [];
  let at = 0;
  let next = 0;
  for (const run of runs) {
    const end = at + run.text.length;
    let from = at;
    while (from < end) {
      while ((marks[next]?.to ?? Number.POSITIVE_INFINITY) <= from) next += 1;
      const mark = marks[next];
      const isMarked = mark !== undefined && mark.from <= from;
      const to = Math.min(end, mark === undefined ? end : isMarked ? mark.to : mark.from);
      const text = run.text.slice(from - at, to - at);
      if (isMarked) nodes.push(<Found key={from} isCurrent={mark.isCurrent} text={text} />);
      else nodes.push(<Run key={from} run={{ text, style: run.style }} />);
      from = to;
    }
    at = end;
  }
  return nodes;
}

/** Whatever colour the output has there: what was looked for is read first. */
function Found({ isCurrent, text }: { readonly isCurrent: boolean; readonly text: string }): ReactElement {
  return (
    <mark className="found" aria-current={isCurrent ? "true" : undefined}>
      {text}
    </mark>
  );
}
