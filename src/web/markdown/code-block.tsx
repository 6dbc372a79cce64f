/** A block of code: plain at once, coloured when the highlighter is there. Scrolls sideways; never widens the page. */
import { type ReactElement, useEffect, useState } from "react";
import { CopyButton } from "../ui/copy-button.tsx";
import type { Span } from "./span.ts";

/** Longer code stays plain: colouring it would hold up a phone. */
const COLOUR_CHARS_MAX = 60_000;

/** While code streams in it is coloured this often, not with every token. */
const SETTLE_MS = 150;

interface Coloured {
  readonly text: string;
  readonly spans: readonly Span[];
}

export function CodeBlock({ text, language }: { readonly text: string; readonly language: string }): ReactElement {
  const name = /^[\w+#.-]*/.exec(language)?.[0] ?? "";
  const coloured = useColoured(text, name);
  return (
    <figure className="code-block">
      <figcaption>
        <span>{name === "" ? "text" : name}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keyboard */}
      <pre tabIndex={0}>
        <code>{coloured === undefined ? text : <Spans coloured={coloured} text={text} />}</code>
      </pre>
    </figure>
  );
}

/** What was coloured, then what came since, plain: nothing jumps while a block grows. */
function Spans({ coloured, text }: { readonly coloured: Coloured; readonly text: string }): ReactElement {
  return (
    <>
      {coloured.spans.map((span, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: spans of one text never move
        <span key={index} className={span.className}>
          {span.text}
        </span>
      ))}
      {text.slice(coloured.text.length)}
    </>
  );
}

function useColoured(text: string, language: string): Coloured | undefined {
  const [coloured, setColoured] = useState<Coloured>();
  useEffect(() => {
    if (language === "" || text.length > COLOUR_CHARS_MAX) return;
    let isCurrent = true;
    const colour = async (): Promise<void> => {
      const { highlight } = await import("./highlight.ts");
      const spans = await highlight(text, language);
      if (isCurrent && spans !== undefined) setColoured({ text, spans });
    };
    // Without the highlighter (offline, or a newer build took its file away) code stays plain.
    const timer = setTimeout(() => void colour().catch(() => undefined), SETTLE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, language]);
  return coloured !== undefined && text.startsWith(coloured.text) ? coloured : undefined;
}
