/** Stored messages in one shape. The backend spells them two ways: `info.messageId`/`callId` and `info.id`/`callID`. */
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../../../protocol/json.ts";

export interface ZPart {
  readonly id: string | undefined;
  readonly type: string;
  readonly raw: JsonObject;
}

export interface ZMessage {
  readonly id: string | undefined;
  readonly role: "user" | "assistant" | "other";
  readonly parentId: string | undefined;
  /** `semantics.kind`, where the build says it. */
  readonly kind: string | undefined;
  readonly isHidden: boolean;
  readonly isSynthetic: boolean;
  readonly parts: readonly ZPart[];
}

export interface ZToolPart {
  readonly callId: string;
  readonly tool: string | undefined;
  readonly state: JsonObject;
}

function readPart(value: Json): ZPart[] {
  if (!isObject(value)) return [];
  const type = stringAt(value, "type");
  return type === undefined ? [] : [{ id: stringAt(value, "partId") ?? stringAt(value, "id"), type, raw: value }];
}

function readMessage(value: Json): ZMessage[] {
  if (!isObject(value)) return [];
  const info = objectAt(value, "info") ?? value;
  const role = stringAt(info, "role");
  const semantics = objectAt(info, "semantics");
  return [
    {
      id: stringAt(info, "messageId") ?? stringAt(info, "id"),
      role: role === "user" || role === "assistant" ? role : "other",
      parentId: stringAt(info, "parentMessageId") ?? stringAt(info, "parentID"),
      kind: stringAt(semantics, "kind"),
      isHidden:
        stringAt(semantics, "transcriptVisibility") === "hidden" || stringAt(info, "visibility") === "model-only",
      isSynthetic: info["synthetic"] === true,
      parts: (arrayAt(value, "parts") ?? []).flatMap(readPart),
    },
  ];
}

/**
 * Reads a `messages` array. One id can stand at several places: the first place and the last content are right.
 */
export function readMessages(values: readonly Json[]): ZMessage[] {
  const list: ZMessage[] = [];
  const places = new Map<string, number>();
  for (const message of values.flatMap(readMessage)) {
    const place = message.id === undefined ? undefined : places.get(message.id);
    if (place !== undefined) list[place] = message;
    else {
      if (message.id !== undefined) places.set(message.id, list.length);
      list.push(message);
    }
  }
  return list;
}

export const isNotification = (message: ZMessage): boolean =>
  message.kind === "background_notification" || message.kind === "subagent_notification";

/** True for what a person typed: it starts a turn of the transcript. */
export function isPrompt(message: ZMessage): boolean {
  if (message.role !== "user" || message.isSynthetic || message.isHidden) return false;
  return message.kind === undefined || message.kind === "user_prompt" || message.kind === "slash_command";
}

/** All text of a message, without what the backend put in or told clients to ignore. */
export function textOf(message: ZMessage, type: "text" | "reasoning" = "text"): string {
  return message.parts
    .filter((part) => part.type === type && part.raw["ignored"] !== true && part.raw["synthetic"] !== true)
    .map((part) => stringAt(part.raw, "text") ?? "")
    .join("");
}

/** The tool calls of a message. */
export function toolsOf(message: ZMessage): ZToolPart[] {
  return message.parts.flatMap((part) => {
    if (part.type !== "tool") return [];
    const callId = stringAt(part.raw, "callId") ?? stringAt(part.raw, "callID") ?? part.id;
    const state = objectAt(part.raw, "state") ?? {};
    return callId === undefined ? [] : [{ callId, tool: stringAt(part.raw, "tool"), state }];
  });
}

/** The stored display of a finished call, where a file diff is. */
export const displayOf = (tool: ZToolPart): JsonObject | undefined =>
  objectAt(objectAt(tool.state, "metadata"), "display") ?? objectAt(tool.state, "display");
