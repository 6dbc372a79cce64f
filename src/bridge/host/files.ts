/** `fs/read_text_file` and `fs/write_text_file` of sessions no editor serves (S7): inside the session's directories, links resolved. */
import type { HostSession } from "../../core/root/ports.ts";
import { type JsonObject, numberAt, stringAt } from "../../protocol/json.ts";
import { HostError } from "./host-error.ts";
import { openForWriting, openInside, PlaceError } from "./open-inside.ts";
import { readTextWindow } from "./text-window.ts";

/** An agent's line may have 64 MiB, and text grows by its escapes. */
const READ_MAX_BYTES = 16_777_216;
const SKIP_MAX_BYTES = 1_073_741_824;

/** → {content}. `line` counts from 1. */
export async function readTextFile(params: JsonObject, session: HostSession): Promise<JsonObject> {
  const path = pathOf(params);
  const opened = await openInside(path, session.roots, "file").catch((error: unknown) => {
    // Agents read a file before they write it anew, and some take an error here for the end of that write; an empty text they take
    // for what it is.
    if (error instanceof PlaceError && error.code === "missing") return undefined;
    throw error;
  });
  if (opened === undefined) return { content: "" };
  try {
    const window = await readTextWindow(opened.handle, {
      line: lineNumber(params, "line") ?? 1,
      limit: lineNumber(params, "limit"),
      maxBytes: READ_MAX_BYTES,
      maxSkipBytes: SKIP_MAX_BYTES,
    });
    if (window.kind === "past-end") throw new HostError("params", `"line" is past the end: ${window.lines} lines`);
    if (window.kind === "too-large")
      throw new HostError("failed", "The text is too large: read it in windows of lines");
    return { content: window.text };
  } finally {
    await opened.handle.close();
  }
}

/** → {}. What the file held is gone only once it is open for certain. */
export async function writeTextFile(params: JsonObject, session: HostSession): Promise<JsonObject> {
  const content = stringAt(params, "content");
  if (content === undefined) throw new HostError("params", '"content" must be a string');
  const { handle } = await openForWriting(pathOf(params), session.roots);
  try {
    await handle.truncate(0);
    await handle.writeFile(content, "utf8");
  } finally {
    await handle.close();
  }
  return {};
}

function pathOf(params: JsonObject): string {
  const path = stringAt(params, "path");
  if (path === undefined || path === "") throw new HostError("params", '"path" must be a string');
  return path;
}

/** Zero means what absence means: schemas count from 0 where people count from 1. */
function lineNumber(params: JsonObject, name: string): number | undefined {
  const value = params[name];
  if (value === undefined || value === null || value === 0) return undefined;
  const number = numberAt(params, name);
  if (number !== undefined && Number.isInteger(number) && number > 0) return number;
  throw new HostError("params", `"${name}" must be a whole number`);
}
