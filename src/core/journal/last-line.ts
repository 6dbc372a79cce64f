/**
 * The last line of a session, as a list shows it: what its last message ends with, or the title of the tool that came after it. Made
 * when somebody asks, from what the journal holds. Thoughts are no lines. Pure.
 */
import { ACP, CHUNK_KINDS, STATE_KINDS } from "../../protocol/acp.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import type { JournalItem } from "./item.ts";
import { plainLine } from "./plain-line.ts";

export interface LastLine {
  /** Who said it; `tool`: it is the title of one. */
  readonly from: "agent" | "user" | "tool";
  /** One line of plain text, `LINE_CHARS_MAX` at most. Never empty. */
  readonly text: string;
}

/** How far back the pieces of a message are looked for, and lines of it. */
const ITEMS_MAX = 64;
const LINES_MAX = 64;
/** A message this long has its last line in what was found. */
const MESSAGE_CHARS = 65_536;

/** True for the updates whose text is a line: messages, and no thoughts. */
export const isMessageKind = (kind: string): boolean => kind !== "agent_thought_chunk" && CHUNK_KINDS.has(kind);

/** The last line of the message that the first of these items, newest first, belongs to. */
export function messageLine(newestFirst: Iterable<JournalItem>): LastLine | undefined {
  const parts: string[] = [];
  let message: Piece | undefined;
  let chars = 0;
  let left = ITEMS_MAX;
  for (const item of newestFirst) {
    const piece = pieceOf(item);
    if (piece === undefined) {
      if (isBetweenPieces(item) && --left > 0) continue;
      break;
    }
    message ??= piece;
    if (piece.kind !== message.kind || piece.messageId !== message.messageId) break;
    parts.unshift(piece.text);
    chars += piece.text.length;
    if (chars >= MESSAGE_CHARS || --left <= 0) break;
  }
  const text = lastLineOf(parts.join(""));
  if (message === undefined || text === "") return undefined;
  return { from: message.kind === "user_message_chunk" ? "user" : "agent", text };
}

/** A tool's line is its title; undefined where it has none. */
export function toolLine(card: JsonObject | undefined): LastLine | undefined {
  const text = plainLine(stringAt(card, "title") ?? "");
  return text === "" ? undefined : { from: "tool", text };
}

/** As it was written down; undefined for anything else. */
export function readLastLine(value: Json | undefined): LastLine | undefined {
  if (!isObject(value)) return undefined;
  const { from, text } = value;
  if (from !== "agent" && from !== "user" && from !== "tool") return undefined;
  return typeof text === "string" && text !== "" ? { from, text } : undefined;
}

interface Piece {
  readonly kind: string;
  readonly messageId: string | undefined;
  readonly text: string;
}

function pieceOf(item: JournalItem): Piece | undefined {
  if (item.run !== undefined) return isMessageKind(item.run.kind) ? item.run : undefined;
  const update = item.method === ACP.sessionUpdate ? objectAt(item.params, "update") : undefined;
  const kind = stringAt(update, "sessionUpdate");
  if (update === undefined || kind === undefined || !isMessageKind(kind)) return undefined;
  return { kind, messageId: stringAt(update, "messageId"), text: blockText(objectAt(update, "content")) };
}

/** What no reader of the whole sees between two pieces of one message: states, updates of cards above, news of the queue. */
function isBetweenPieces({ run, method, params }: JournalItem): boolean {
  if (run !== undefined) return false;
  if (method === HUB.turn) return params["stopReason"] === undefined && params["error"] === undefined;
  if (method !== ACP.sessionUpdate) return true;
  const kind = stringAt(objectAt(params, "update"), "sessionUpdate") ?? "";
  return kind === "tool_call_update" || STATE_KINDS.has(kind);
}

/** Text as it is; what is attached by its name, or by what it is. */
function blockText(content: JsonObject | undefined): string {
  const type = stringAt(content, "type");
  if (type === "text") return stringAt(content, "text") ?? "";
  const uri = stringAt(content, "uri") ?? stringAt(objectAt(content, "resource"), "uri");
  const name = stringAt(content, "name") ?? uri?.split("/").at(-1);
  return name === undefined || name === "" ? ` [${type ?? "content"}] ` : ` @${name} `;
}

const HAS_WORD = /[\p{L}\p{N}]/u;
const FENCE = /^\s*(?:```|~~~)/;

/** The last line that says something; where none has a word, the last one that is not empty. */
function lastLineOf(text: string): string {
  let wordless = "";
  let end = text.length;
  for (let left = LINES_MAX; end > 0 && left > 0; left -= 1) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    const raw = text.slice(start, end);
    const line = FENCE.test(raw) ? "" : plainLine(raw);
    if (HAS_WORD.test(line)) return line;
    if (wordless === "") wordless = line;
    end = start - 1;
  }
  return wordless;
}
