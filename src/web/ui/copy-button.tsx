/** Copies text and says so, or that it could not. */
import { type ReactElement, useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

/** The clipboard API exists only in secure contexts; on a plain LAN the old way works. False when the browser would not. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard === undefined) return copySelected(text);
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

function copySelected(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  // No keyboard slides in for it.
  area.readOnly = true;
  area.className = "hidden-text";
  // Nothing outside of an open dialog can be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  return isCopied;
}

const ICONS = { none: "copy", Copied: "check", "Not copied": "alert" } as const;

export interface CopyButtonProps {
  readonly text: string;
  readonly label?: string;
  /** Where there is room for words, the icon alone would be a riddle. */
  readonly isNamed?: boolean;
}

export function CopyButton({ text, label = "Copy", isNamed = false }: CopyButtonProps): ReactElement {
  const [outcome, setOutcome] = useState<"Copied" | "Not copied">();
  useEffect(() => {
    if (outcome === undefined) return;
    const timer = setTimeout(() => setOutcome(undefined), 1500);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => setOutcome((await copyText(text)) ? "Copied" : "Not copied");
  return (
    <button
      type="button"
      className={isNamed ? "button" : "copy-button"}
      aria-label={isNamed ? undefined : label}
      onClick={() => void copy()}
    >
      <Icon name={ICONS[outcome ?? "none"]} small /> {isNamed && outcome === undefined && label}
      <span aria-live="polite">{outcome}</span>
    </button>
  );
}
