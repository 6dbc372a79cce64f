/** Stored history as the updates a client would have seen, without the plumbing the backend keeps in it. */
import { type JsonObject, stringAt } from "../../../protocol/json.ts";
import { textBlock, textContent, type Update } from "./event.ts";
import { isNotification, isPrompt, type ZMessage, type ZPart } from "./messages.ts";
import { patchCard } from "./snapshot-diff.ts";
import { storedToolCard } from "./stored-tool.ts";

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>\s*/g;
const NUDGES = [
  /^The TodoWrite tool hasn't been used recently/,
  /^Your todo list (has changed|is currently empty)/,
  /^Note: .* was (modified|read) (before|by)/,
];
const DROPPED_KINDS = new Set(["system_reminder", "todo_reminder", "rewind_notice", "fork_notice", "timeline_event"]);

type FoldKind = "context-handoff" | "compact" | "task-notification" | "tool-transcript";

const FOLD_TITLES: Readonly<Record<FoldKind, string>> = {
  "context-handoff": "Context handed over from an earlier session",
  compact: "Summary of the compacted conversation",
  "task-notification": "Report of a background task",
  "tool-transcript": "Transcript of earlier tool calls",
};

/** The text a person wrote, without blocks the backend put around it. */
export const withoutReminders = (text: string): string => text.replace(REMINDER, "").trim();

function foldOf(message: ZMessage, text: string): FoldKind | undefined {
  if (message.kind === "compact_summary") return "compact";
  if (message.kind === "shared_context") return "context-handoff";
  if (isNotification(message) || /^\s*<task-notification>/.test(text)) return "task-notification";
  if (message.role !== "user") return undefined;
  if (/^This session is being continued from a previous conversation/.test(text)) return "context-handoff";
  return /^\s*\[(Tool|tool) (call|result|transcript)/.test(text) ? "tool-transcript" : undefined;
}

function folded(message: ZMessage, kind: FoldKind, text: string, at: number): Update {
  return {
    sessionUpdate: "tool_call",
    toolCallId: `histfold_${message.id ?? at}`,
    title: FOLD_TITLES[kind],
    kind: "other",
    status: "completed",
    content: [textBlock(text)],
    _meta: { zcode: { collapsed: true, kind } },
  };
}

const rawText = (message: ZMessage): string =>
  message.parts
    .filter((part) => part.type === "text")
    .map((part) => stringAt(part.raw, "text") ?? "")
    .join("\n");

function fileContent(part: ZPart): JsonObject | undefined {
  const url = stringAt(part.raw, "url") ?? "";
  const mimeType = stringAt(part.raw, "mime");
  const name = stringAt(part.raw, "filename") ?? url.split("/").at(-1) ?? "file";
  const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  if (data !== undefined && mimeType?.startsWith("image/") === true) return { type: "image", mimeType, data };
  return url === "" || url.startsWith("data:") ? undefined : { type: "resource_link", name, uri: url };
}

function userUpdates(message: ZMessage, at: number): Update[] {
  const text = withoutReminders(rawText(message));
  const fold = foldOf(message, text);
  if (fold !== undefined) return text === "" ? [] : [folded(message, fold, text, at)];
  if (!isPrompt(message) || NUDGES.some((nudge) => nudge.test(text))) return [];
  const id = message.id === undefined ? {} : { messageId: message.id };
  const files = message.parts.flatMap((part) => {
    const content = part.type === "file" ? fileContent(part) : undefined;
    return content === undefined ? [] : [{ sessionUpdate: "user_message_chunk", content, ...id }];
  });
  return text === "" ? files : [{ sessionUpdate: "user_message_chunk", content: textContent(text), ...id }, ...files];
}

function assistantPart(message: ZMessage, part: ZPart, isOver: boolean): Update[] {
  const text = stringAt(part.raw, "text") ?? "";
  const id = message.id;
  if (part.type === "text" && text !== "" && part.raw["ignored"] !== true) {
    return [
      {
        sessionUpdate: "agent_message_chunk",
        content: textContent(text),
        ...(id === undefined ? {} : { messageId: id }),
      },
    ];
  }
  if (part.type === "reasoning" && text !== "") {
    return [
      {
        sessionUpdate: "agent_thought_chunk",
        content: textContent(text),
        ...(id === undefined ? {} : { messageId: `thought_${id}` }),
      },
    ];
  }
  if (part.type === "tool") {
    const callId = stringAt(part.raw, "callId") ?? stringAt(part.raw, "callID") ?? part.id;
    const state = part.raw["state"];
    if (callId === undefined || typeof state !== "object" || state === null || Array.isArray(state)) return [];
    return [storedToolCard({ callId, tool: stringAt(part.raw, "tool"), state }, isOver)];
  }
  const hash = stringAt(part.raw, "hash");
  const card = part.type === "patch" && hash !== undefined ? patchCard(part.raw, hash) : undefined;
  return card === undefined ? [] : [card];
}

/** The updates of one message. `isOver` is false for messages of a turn that still runs: its open cards stay open. */
export function replayMessage(message: ZMessage, at: number, isOver: boolean): Update[] {
  if (message.isHidden || (message.kind !== undefined && DROPPED_KINDS.has(message.kind))) return [];
  if (message.role === "user") return userUpdates(message, at);
  if (message.role !== "assistant") return [];
  const fold = foldOf(message, "");
  if (fold !== undefined) return [folded(message, fold, rawText(message), at)];
  return message.parts.flatMap((part) => assistantPart(message, part, isOver));
}

export interface Page {
  /** Index of the first message of the page. */
  readonly start: number;
  /** Index after its last message. */
  readonly end: number;
  readonly turns: number;
}

/** The last `limit` messages before `end`, taken back to the start of their turn. Zero gives an empty page. */
export function pageBefore(messages: readonly ZMessage[], end: number, limit: number): Page {
  if (limit <= 0) return { start: end, end, turns: 0 };
  let start = Math.max(0, end - limit);
  while (start > 0 && !isTurnStart(messages[start])) start--;
  const turns = messages.slice(start, end).filter(isTurnStart).length;
  return { start, end, turns };
}

const isTurnStart = (message: ZMessage | undefined): boolean => message !== undefined && isPrompt(message);

/** Turns of a list; leading messages without a prompt belong to the first. */
export const turnCount = (messages: readonly ZMessage[]): number => messages.filter(isTurnStart).length;

export interface HistoryCursor {
  /** The oldest message the client has. */
  readonly id: string;
  /** Messages from there to the end when the cursor was made: how many must be read to find it again. */
  readonly fromEnd: number;
}

export const encodeCursor = (cursor: HistoryCursor): string =>
  Buffer.from(JSON.stringify({ v: 1, ...cursor })).toString("base64url");

/** Reads a cursor; undefined when it is none of ours. */
export function decodeCursor(text: string): HistoryCursor | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (typeof value !== "object" || value === null || !("id" in value) || !("fromEnd" in value)) return undefined;
    const { id, fromEnd } = value;
    return typeof id === "string" && typeof fromEnd === "number" && fromEnd >= 0 ? { id, fromEnd } : undefined;
  } catch {
    return undefined;
  }
}
