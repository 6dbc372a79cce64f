/** Terminal output with its colours: the tail first, the rest on demand. */
import { type ReactElement, useMemo, useState } from "react";
import { useObservable, useServices } from "../app/hooks.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { type TerminalRun, terminalRuns } from "./terminal-text.ts";
import { WrapButton } from "./wrap-button.tsx";
import "./terminal.css";

const LINES_SHOWN = 200;

export function TerminalView({ text }: { readonly text: string }): ReactElement {
  const { settings } = useServices();
  const { wrapLines } = useObservable(settings.settings);
  const [limit, setLimit] = useState(LINES_SHOWN);
  const { shown, hiddenCount } = useMemo(() => tail(text, limit), [text, limit]);
  const runs = useMemo(() => terminalRuns(shown), [shown]);
  return (
    <figure className="terminal">
      <figcaption>
        <span>Output</span>
        <span className="row-actions">
          <WrapButton />
          <CopyButton text={runs.map((run) => run.text).join("")} label="Copy output" />
        </span>
      </figcaption>
      {hiddenCount > 0 && (
        <button type="button" className="button small" onClick={() => setLimit(limit * 5)}>
          {hiddenCount} earlier lines
        </button>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: output is scrolled by keyboard */}
      <pre tabIndex={0} className={wrapLines ? "wrap" : undefined}>
        {runs.map((run, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: runs of one text never move
          <Run key={index} run={run} />
        ))}
      </pre>
    </figure>
  );
}

function Run({ run }: { readonly run: TerminalRun }): ReactElement {
  const style = run.color === undefined ? undefined : { color: `rgb(${run.color})` };
  return (
    <span className={run.className} style={style}>
      {run.text}
    </span>
  );
}

function tail(text: string, limit: number): { readonly shown: string; readonly hiddenCount: number } {
  const lines = text.replace(/\n$/, "").split("\n");
  const hiddenCount = Math.max(0, lines.length - limit);
  return { shown: lines.slice(hiddenCount).join("\n"), hiddenCount };
}
