/** Colours a diff once the highlighter is there; until then, and for languages nobody knows, it is plain. */
import { useEffect, useState } from "react";
import type { DiffPart } from "../approval/question.ts";
import { type DiffColours, spansByLine } from "./diff-colours.ts";

/** Longer texts stay plain: colouring them would hold up a phone. */
const COLOUR_CHARS_MAX = 60_000;

interface Coloured extends DiffColours {
  readonly of: DiffPart;
}

export function useDiffColours(diff: DiffPart): DiffColours | undefined {
  const [coloured, setColoured] = useState<Coloured>();
  useEffect(() => {
    const { path, oldText, newText } = diff;
    const language = /\.?([\w+-]+)$/.exec(path)?.[1];
    if (language === undefined || oldText.length + newText.length > COLOUR_CHARS_MAX) return;
    let isCurrent = true;
    const colour = async (): Promise<void> => {
      const { highlight } = await import("../markdown/highlight.ts");
      const [before, after] = [await highlight(oldText, language), await highlight(newText, language)];
      if (!isCurrent || before === undefined || after === undefined) return;
      setColoured({ of: diff, before: spansByLine(before), after: spansByLine(after) });
    };
    void colour().catch(() => undefined);
    return () => {
      isCurrent = false;
    };
  }, [diff]);
  const isSame = coloured?.of.oldText === diff.oldText && coloured.of.newText === diff.newText;
  return isSame ? coloured : undefined;
}
