/** Structured patches of the backend as ACP diff contents: one per hunk, so that a client shows what changed, not the file. */
import { arrayAt, isObject, type Json, type JsonObject, numberAt, stringAt } from "../../../protocol/json.ts";

export interface FileDiff {
  readonly content: readonly JsonObject[];
  readonly locations: readonly JsonObject[];
}

function sideOf(lines: readonly Json[], mark: "-" | "+"): string[] {
  return lines.flatMap((line) => {
    if (typeof line !== "string") return [];
    return line.startsWith(mark) || line.startsWith(" ") ? [line.slice(1)] : [];
  });
}

/** Reads a `metadata.display` / `result.display`; undefined unless it is a file diff with hunks. */
export function diffOf(display: JsonObject | undefined): FileDiff | undefined {
  const path = stringAt(display, "filePath");
  const hunks = arrayAt(display, "structuredPatch");
  if (stringAt(display, "kind") !== "file_diff" || path === undefined || hunks === undefined) return undefined;
  const content: JsonObject[] = [];
  const locations: JsonObject[] = [];
  for (const hunk of hunks) {
    if (!isObject(hunk)) continue;
    const lines = arrayAt(hunk, "lines") ?? [];
    const before = sideOf(lines, "-");
    content.push({
      type: "diff",
      path,
      oldText: before.length === 0 ? null : before.join("\n"),
      newText: sideOf(lines, "+").join("\n"),
    });
    locations.push({ path, line: Math.max(1, numberAt(hunk, "newStart") ?? 1) });
  }
  return content.length === 0 ? undefined : { content, locations };
}
