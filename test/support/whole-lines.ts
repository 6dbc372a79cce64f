/** Reading a file that another process is writing. */
import { readFileSync } from "node:fs";

/** Its lines that are not empty, without one at the end that is half written. */
export function wholeLines(path: string): string[] {
  const text = readFileSync(path, "utf8");
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "");
}
