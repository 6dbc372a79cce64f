/** The keyboard's way through the app. Letters act only while nobody types. */
import { type ReactElement, useEffect, useState } from "react";
import { Dialog } from "../ui/dialog.tsx";

const KEYS: readonly (readonly [string, string])[] = [
  ["j, k", "Next and previous session or card"],
  ["a", "To the allow button of the open question (Enter confirms)"],
  ["d", "To its reject button (Enter confirms)"],
  ["c", "To the message field"],
  ["/", "Search sessions; within an output: find in it"],
  ["g", "All sessions"],
  ["?", "This help"],
];

export function Shortcuts(): ReactElement | null {
  const [isHelpOpen, setHelpOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (event.key === "?") setHelpOpen(true);
      else if (!act(event.key)) return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  if (!isHelpOpen) return null;
  return (
    <Dialog title="Keyboard" onClose={() => setHelpOpen(false)}>
      <dl className="facts">
        {KEYS.map(([key, about]) => (
          <div className="key-line" key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

const STOPS = ".session .tool-line, .session .fold, .home .session-row, .home .need-line";

function act(key: string): boolean {
  switch (key) {
    case "j":
    case "k":
      return step(key === "j" ? 1 : -1);
    case "a":
      return focus('.option[data-kind^="allow"]:not(:disabled)');
    case "d":
      return focus('.option[data-kind^="reject"]:not(:disabled), .option.danger:not(:disabled)');
    case "c":
      return focus(".composer textarea");
    case "/":
      return focus("#search");
    case "g":
      location.hash = "#/";
      return true;
    default:
      return false;
  }
}

function focus(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  element?.focus();
  return element !== null;
}

/** Within the part of the page that has the focus: the list, or the session beside it. */
function step(by: number): boolean {
  const part = document.activeElement?.closest(".home, .session") ?? document.querySelector(".session") ?? document;
  const stops = [...part.querySelectorAll<HTMLElement>(STOPS)];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  const next = stops[at < 0 ? (by > 0 ? 0 : stops.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return next !== undefined;
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
