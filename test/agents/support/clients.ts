/** What a person at a client would see: dialogs that are open, what the agent said, which cards stand there. */
import { paramsOf, type RpcId } from "../../../src/protocol/envelope.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";
import type { Asked, RawClient } from "../../support/raw-client.ts";

/** The option of a permission request with this kind. */
export function optionOf(ask: Asked, kind: "allow_once" | "reject_once"): string {
  const option = (arrayAt(ask.params, "options") ?? []).find((each) => isObject(each) && each["kind"] === kind);
  return (isObject(option) ? stringAt(option, "optionId") : undefined) ?? `no ${kind} offered`;
}

export const selected = (optionId: string): JsonObject => ({ outcome: { outcome: "selected", optionId } });

/** Ids of permission requests this client was sent. */
export const askedIds = (client: RawClient): RpcId[] =>
  client.frames.flatMap((frame) =>
    frame.kind === "request" && frame.msg.method === "session/request_permission" ? [frame.msg.id] : [],
  );

export const cancelledIds = (client: RawClient): unknown[] =>
  client.notifications("$/cancel_request").map((params) => params["requestId"]);

/** Dialogs nobody took back. The client's own answers are not counted in: this is for clients that gave none. */
export const openDialogs = (client: RawClient): RpcId[] => {
  const cancelled = new Set(cancelledIds(client));
  return askedIds(client).filter((id) => !cancelled.has(id));
};

/** Updates of one session, in order, from the frame `since` on. */
export const updatesOf = (client: RawClient, sessionId: string, since = 0): JsonObject[] =>
  client.frames.slice(since).flatMap((frame) => {
    const params =
      frame.kind === "notification" && frame.msg.method === "session/update" ? paramsOf(frame.msg) : undefined;
    return params?.["sessionId"] === sessionId ? [objectAt(params, "update") ?? {}] : [];
  });

/** Whether an update is a piece of the conversation: only these may not come twice. State is told whenever it changes. */
export const isHistory = (update: JsonObject): boolean => /_chunk$|^tool_call/.test(String(update["sessionUpdate"]));

export const countOf = (client: RawClient, kind: string): number =>
  client.updates().filter((update) => update["sessionUpdate"] === kind).length;

/** One line of a transcript: text of a message, or the last state of a tool card. */
export interface Line {
  readonly kind: "message" | "thought" | "tool";
  readonly id: string;
  text: string;
}

/**
 * What the agent said, as it would stand on a screen: chunks of one message joined, each tool card once, in its last state, where it
 * came first. A client clears the screen when it loads: `since` is the frame at which it did. What people said is left out: an author does not get its own words back (B3).
 */
export function transcriptOf(client: RawClient, sessionId: string, since = 0): Line[] {
  const lines: Line[] = [];
  for (const update of updatesOf(client, sessionId, since)) {
    const kind = stringAt(update, "sessionUpdate") ?? "";
    if (kind === "agent_message_chunk") addText(lines, "message", update);
    else if (kind === "agent_thought_chunk") addText(lines, "thought", update);
    else if (kind === "tool_call" || kind === "tool_call_update") addCard(lines, update);
    // Between two prompts a message without an id ends.
    else if (kind === "user_message_chunk") lines.push({ kind: "message", id: "end", text: "" });
  }
  return lines.filter((line) => line.text !== "");
}

function addText(lines: Line[], kind: "message" | "thought", update: JsonObject): void {
  const text = stringAt(objectAt(update, "content"), "text") ?? "";
  const id = stringAt(update, "messageId") ?? "";
  const last = lines.at(-1);
  if (last?.kind === kind && last.id === id) last.text += text;
  else lines.push({ kind, id, text });
}

function addCard(lines: Line[], update: JsonObject): void {
  const id = stringAt(update, "toolCallId") ?? "";
  const status = stringAt(update, "status");
  const known = lines.find((line) => line.kind === "tool" && line.id === id);
  if (known === undefined) lines.push({ kind: "tool", id, text: status ?? "pending" });
  else if (status !== undefined) known.text = status;
}
