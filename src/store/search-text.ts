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

/** Scripts written without spaces. */
const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu;

/** Sets ideographs apart, so that each is a word of its own to the index and a run of them can be found inside a sentence. */
export const spacedIdeographs = (text: string): string => text.replace(IDEOGRAPH, " $& ");

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

/** The query in the language of the index: every word quoted, so nothing in it is an operator; the last may go on. */
export function indexQuery(words: readonly string[]): string {
  return words
    .map((word, index) => {
      const quoted = `"${spacedIdeographs(word).replaceAll('"', '""')}"`;
      return index === words.length - 1 ? `${quoted}*` : quoted;
    })
    .join(" AND ");
}

/** What the index knows as one text: a message, or the title of a tool. */
export interface SearchDoc {
  first: number;
  last: number;
  text: string;
  readonly joinKey: string | undefined;
}

const DOC_CHARS_MAX = 65_536;

/** Adds an item to the documents made so far. */
export function addToDocs(docs: SearchDoc[], item: JournalItem): void {
  const found = searchText(item);
  if (found === undefined) return;
  const previous = docs.at(-1);
  const isNext = previous !== undefined && found.joinKey !== undefined && previous.joinKey === found.joinKey;
  if (isNext && previous.last + 1 === item.first && previous.text.length + found.text.length <= DOC_CHARS_MAX) {
    previous.text += found.text;
    previous.last = item.last;
  } else docs.push({ first: item.first, last: item.last, text: found.text, joinKey: found.joinKey });
}
