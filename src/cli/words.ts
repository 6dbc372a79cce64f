/** How things are said to people on a terminal. */

/** A time as people say it. */
export function ago(at: number, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 60) return `${seconds}s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)}h ago`;
  return `${Math.round(seconds / 86_400)}d ago`;
}

/** How long it has lasted: "40s", "2m", "3h". */
export function lasted(since: number, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.floor((now - since) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** An agent's text must not move the cursor or retitle the terminal: control characters are shown, not obeyed. */
export function printable(text: string): string {
  let shown = "";
  for (const char of text) {
    const code = char.charCodeAt(0);
    const isControl = (code < 0x20 && char !== "\n" && char !== "\t") || (code >= 0x7f && code < 0xa0);
    shown += isControl ? `\\x${code.toString(16).padStart(2, "0")}` : char;
  }
  return shown;
}

/** The same on one line, cut at `max` characters. */
export function oneLine(text: string, max: number): string {
  const line = printable(text.replace(/\s+/g, " ").trim());
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}
