/** Copies text and says so. */
import { type ReactElement, useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

/** The clipboard API exists only in secure contexts; on a plain LAN the old way works. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden-text";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export interface CopyButtonProps {
  readonly text: string;
  readonly label?: string;
  /** Where there is room for words, the icon alone would be a riddle. */
  readonly isNamed?: boolean;
}

export function CopyButton({ text, label = "Copy", isNamed = false }: CopyButtonProps): ReactElement {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <button
      type="button"
      className={isNamed ? "button" : "copy-button"}
      aria-label={isNamed ? undefined : label}
      onClick={() => void copyText(text).then(() => setDone(true))}
    >
      <Icon name={isDone ? "check" : "copy"} small /> {isNamed && !isDone && label}
      <span aria-live="polite">{isDone ? "Copied" : ""}</span>
    </button>
  );
}
