/** Records for store tests: the least that is valid, with what a test cares about put over it. */
import type { DeviceRecord } from "../../src/protocol/devices.ts";
import { deviceId, type Epoch, epoch, interactionId, promptId, sessionId } from "../../src/protocol/ids.ts";
import type { InteractionRecord, JournalItem, PromptRecord, SessionRecord } from "../../src/store/ports.ts";
import { type SessionKey, sessionKey } from "../../src/store/session-key.ts";

export const keyOf = (id: string, cwd = "/work/app"): SessionKey => sessionKey({ agent: "demo", cwd, sessionId: id });

export const E1: Epoch = epoch("e1");
export const E2: Epoch = epoch("e2");

export interface ChunkMarks {
  readonly kind?: string;
  readonly messageId?: string;
}

/** One streamed piece of text as the core hands it over. */
export function chunk(seq: number, text: string, marks: ChunkMarks = {}): JournalItem {
  const update = {
    sessionUpdate: marks.kind ?? "agent_message_chunk",
    content: { type: "text", text },
    ...(marks.messageId !== undefined && { messageId: marks.messageId }),
  };
  const message = { ts: seq, method: "session/update", params: { sessionId: "s", update } };
  return { first: seq, last: seq, pieces: [text.length], message };
}

export function toolCall(seq: number, title: string, toolCallId = `t${seq}`): JournalItem {
  const update = { sessionUpdate: "tool_call", toolCallId, title, status: "pending" };
  return {
    first: seq,
    last: seq,
    message: { ts: seq, method: "session/update", params: { sessionId: "s", update } },
  };
}

/** All text of items, joined: what a reader would see whatever the cuts. */
export function textOf(items: readonly JournalItem[]): string {
  return items
    .map((item) => {
      const { params } = item.message as { params: { update: { content?: { text: string }; title?: string } } };
      return params.update.content?.text ?? params.update.title ?? "";
    })
    .join("");
}

export function session(key: SessionKey, over: Partial<SessionRecord> = {}): SessionRecord {
  const [agent, cwd, id] = JSON.parse(key) as [string, string, string];
  return {
    key,
    sessionId: sessionId(id),
    agent,
    cwd,
    epochs: [E1],
    createdAt: 1_000,
    updatedAt: 1_000,
    state: "idle",
    isListed: true,
    extra: {},
    ...over,
  };
}

export function prompt(key: SessionKey, id: string, over: Partial<PromptRecord> = {}): PromptRecord {
  return {
    deviceId: deviceId("phone"),
    sessionKey: key,
    promptId: promptId(id),
    contentHash: "h",
    state: "waiting",
    at: 1_000,
    ...over,
  };
}

export function interaction(key: SessionKey, id: string, over: Partial<InteractionRecord> = {}): InteractionRecord {
  return {
    interactionId: interactionId(id),
    sessionKey: key,
    instanceId: "i1",
    method: "session/request_permission",
    request: { options: [{ optionId: "allow", name: "Allow", kind: "allow_once" }] },
    openedAt: 1_000,
    ...over,
  };
}

export function device(id: string, over: Partial<DeviceRecord> = {}): DeviceRecord {
  return {
    deviceId: deviceId(id),
    name: `the ${id}`,
    kind: "app",
    scopes: ["sessions:read"],
    queryAllowed: false,
    createdAt: 1_000,
    ...over,
  };
}
