/** What of an item can be searched: the words of messages and the titles of tools. Thoughts and tool output cannot. */
import { type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import type { JournalItem } from "./ports.ts";

/** `joinKey`: neighbours with the same one are one message, cut only because they were written at different times. */
export interface SearchText {
  readonly text: string;
  readonly joinKey?: string;
}

const MESSAGE_KINDS: ReadonlySet<string> = new Set(["user_message_chunk", "agent_message_chunk"]);
const TOOL_KINDS: ReadonlySet<string> = new Set(["tool_call", "tool_call_update"]);

/** Messages are stored with their params; a bare update is understood too. */
const updateOf = (message: JsonObject): JsonObject | undefined =>
  objectAt(objectAt(message, "params"), "update") ?? objectAt(message, "update");

const textOf = (content: JsonObject | undefined): string | undefined =>
  stringAt(content, "text") ?? stringAt(objectAt(content, "resource"), "uri") ?? stringAt(content, "uri");

/** The searchable text of an item; undefined when there is none. */
export function searchText(item: JournalItem): SearchText | undefined {
  const update = updateOf(item.message);
  const kind = stringAt(update, "sessionUpdate") ?? "";
  if (MESSAGE_KINDS.has(kind)) {
    const text = textOf(objectAt(update, "content"));
    if (text === undefined || text === "") return undefined;
    return { text, joinKey: `${kind} ${stringAt(update, "messageId") ?? ""}` };
  }
  const title = TOOL_KINDS.has(kind) ? stringAt(update, "title") : undefined;
  return title === undefined || title === "" ? undefined : { text: title };
}

const WORDS_MAX = 16;
const QUERY_CHARS_MAX = 256;
const HAS_WORD_CHARACTER = /[\p{L}\p{N}]/u;

/** The words of a person's query, as typed. Signs alone are no words. */
export function queryWords(query: string): string[] {
  return query
    .slice(0, QUERY_CHARS_MAX)
    .split(/\s+/)
    .filter((word) => HAS_WORD_CHARACTER.test(word))
    .slice(0, WORDS_MAX);
}

/**
 * What the index knows as one text: a message, or short ones that stand next to each other. A session of a thousand one-line
 * messages as a thousand texts would cost a search for a common word ten times as long.
 */
export interface Passage {
  first: number;
  last: number;
  text: string;
  /** Of the item that came last. */
  joinKey: string | undefined;
}

const PASSAGE_CHARS = 4_096;
/** A message that goes on longer than this goes on in a passage of its own. */
const MESSAGE_CHARS_MAX = 65_536;

/** Adds an item to the passages made so far. */
export function addToPassages(passages: Passage[], item: JournalItem): void {
  const found = searchText(item);
  if (found === undefined) return;
  const { text, joinKey } = found;
  const previous = passages.at(-1);
  if (previous === undefined) {
    passages.push({ first: item.first, last: item.last, text, joinKey });
    return;
  }
  const isSameMessage = joinKey !== undefined && previous.joinKey === joinKey && previous.last + 1 === item.first;
  const room = isSameMessage ? MESSAGE_CHARS_MAX : PASSAGE_CHARS;
  if (previous.text.length + text.length > room) {
    passages.push({ first: item.first, last: item.last, text, joinKey });
    return;
  }
  previous.text += isSameMessage ? text : `\n${text}`;
  previous.last = item.last;
  previous.joinKey = joinKey;
}
