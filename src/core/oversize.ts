/**
 * What the record and remote clients get for a message of the agent that is too large to share (T2): the same message with its long
 * texts, pictures and files told by their size, so that a tool card stays a card and a chunk a chunk. Pure.
 */
import { CHUNK_KINDS } from "../protocol/acp.ts";
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { isToolKind } from "./journal/tool-card.ts";

/** Longer texts are left out. */
const TEXT_CHARS_MAX = 4096;
/** Longer lists end here. */
const ENTRIES_MAX = 200;
/** Deeper parts are left out: an agent's message may be as deep as it is long. */
const DEPTH_MAX = 64;
/** What is left may not be longer than this: a message of a million small parts is told by its size alone. */
const LEFT_CHARS_MAX = 262_144;

const note = (length: number): string =>
  `[${length >= 1_000_000 ? `${(length / 1_000_000).toFixed(1)} MB` : `${Math.ceil(length / 1000)} kB`} left out: too large to share]`;

const textBlock = (text: string): JsonObject => ({ type: "text", text });

/** `params` of a `session/update` whose message has `size` characters. */
export function oversizeParams(params: JsonObject, size: number): JsonObject {
  const shrunk = shrink(params) as JsonObject;
  if (JSON.stringify(shrunk).length <= LEFT_CHARS_MAX) return shrunk;
  const update = objectAt(params, "update");
  const sessionId = stringAt(params, "sessionId");
  return { ...(sessionId !== undefined && { sessionId }), update: bareUpdate(update, size) };
}

function shrink(value: Json, depth = 0): Json {
  if (depth > DEPTH_MAX) return "[left out: too deep to share]";
  if (typeof value === "string") return value.length > TEXT_CHARS_MAX ? note(value.length) : value;
  if (Array.isArray(value)) return value.slice(0, ENTRIES_MAX).map((entry) => shrink(entry, depth + 1));
  if (!isObject(value)) return value;
  const told = toldBySize(value);
  if (told !== undefined) return told;
  const members = Object.entries(value).slice(0, ENTRIES_MAX);
  return Object.fromEntries(
    members.flatMap(([name, member]) => (member === undefined ? [] : [[name, shrink(member, depth + 1)]])),
  );
}

/** A picture, sound, file or diff that lacks its contents is none: a text says so instead. */
function toldBySize(block: JsonObject): JsonObject | undefined {
  const lengthOf = (holder: JsonObject | undefined, name: string): number => stringAt(holder, name)?.length ?? 0;
  switch (block["type"]) {
    case "image":
    case "audio": {
      const length = lengthOf(block, "data");
      return length > TEXT_CHARS_MAX ? textBlock(note(length)) : undefined;
    }
    case "resource": {
      const resource = objectAt(block, "resource");
      const length = Math.max(lengthOf(resource, "blob"), lengthOf(resource, "text"));
      return length > TEXT_CHARS_MAX
        ? textBlock(`${stringAt(resource, "uri") ?? ""} ${note(length)}`.trim())
        : undefined;
    }
    case "diff": {
      const length = Math.max(lengthOf(block, "oldText"), lengthOf(block, "newText"));
      if (length <= TEXT_CHARS_MAX) return undefined;
      return { type: "content", content: textBlock(`${stringAt(block, "path") ?? ""} ${note(length)}`.trim()) };
    }
    default:
      return undefined;
  }
}

/** An update told by its kind, its name and its size. One whose members are its meaning becomes a line of the agent's. */
function bareUpdate(update: JsonObject | undefined, size: number): JsonObject {
  const kind = stringAt(update, "sessionUpdate") ?? "";
  const named = Object.fromEntries(
    ["toolCallId", "messageId", "title", "kind", "status"].flatMap((name) => {
      const value = stringAt(update, name);
      return value === undefined || value.length > TEXT_CHARS_MAX ? [] : [[name, value]];
    }),
  );
  const content = textBlock(note(size));
  if (isToolKind(kind) && stringAt(update, "toolCallId") !== undefined)
    return { ...named, sessionUpdate: kind, content: [{ type: "content", content }] };
  if (CHUNK_KINDS.has(kind)) return { ...named, sessionUpdate: kind, content };
  const count = arrayAt(update, "entries")?.length;
  const what = count === undefined ? kind : `${kind}, ${count} entries`;
  return { sessionUpdate: "agent_message_chunk", content: textBlock(`${what} ${note(size)}`.trim()) };
}
