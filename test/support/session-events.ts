/** Random, well-formed session histories for property tests, and the reader's side of a journal. */
import fc from "fast-check";
import type { TranscriptInput } from "../../src/client/transcript/item.ts";
import { itemParams, type JournalItem } from "../../src/core/journal/item.ts";
import { Journal } from "../../src/core/journal/journal.ts";
import { epoch } from "../../src/protocol/ids.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { Stamp } from "../../src/protocol/meta.ts";

export interface ScriptedEvent {
  readonly method: string;
  readonly params: JsonObject;
}

export const EPOCH = "e1";

const update = (body: JsonObject): ScriptedEvent => ({
  method: "session/update",
  params: { sessionId: "s1", update: body },
});

const chunk = fc
  .record({
    kind: fc.constantFrom("agent_message_chunk", "agent_thought_chunk", "user_message_chunk"),
    messageId: fc.option(fc.constantFrom("m1", "m2", "m3"), { nil: undefined }),
    text: fc.string({ maxLength: 6 }),
  })
  .map(({ kind, messageId, text }) =>
    update({ sessionUpdate: kind, content: { type: "text", text }, ...(messageId !== undefined && { messageId }) }),
  );

const image = fc.constant(
  update({ sessionUpdate: "agent_message_chunk", content: { type: "image", data: "AA==", mimeType: "image/png" } }),
);

const tool = fc
  .record({
    kind: fc.constantFrom("tool_call", "tool_call_update"),
    toolCallId: fc.constantFrom("t1", "t2", "t3"),
    title: fc.option(fc.string({ maxLength: 4 }), { nil: undefined }),
    status: fc.constantFrom("pending", "in_progress", "completed", null),
    output: fc.option(fc.string({ maxLength: 4 }), { nil: undefined }),
  })
  .map(({ kind, toolCallId, title, status, output }) =>
    update({
      sessionUpdate: kind,
      toolCallId,
      status,
      ...(title !== undefined && { title }),
      ...(output !== undefined && { _meta: { terminal_output: { terminal_id: "x", data: output } } }),
    }),
  );

const state = fc.oneof(
  fc
    .string({ maxLength: 4 })
    .map((content) => update({ sessionUpdate: "plan", entries: [{ content, priority: "low", status: "pending" }] })),
  fc.nat(99).map((used) => update({ sessionUpdate: "usage_update", used, size: 100 })),
  fc.option(fc.string({ maxLength: 4 })).map((title) => update({ sessionUpdate: "session_info_update", title })),
  fc
    .constantFrom("ask", "code")
    .map((currentModeId) => update({ sessionUpdate: "current_mode_update", currentModeId })),
);

const turnNotice: fc.Arbitrary<ScriptedEvent> = fc
  .constantFrom({ state: "running" }, { state: "waiting" }, { state: "idle", stopReason: "end_turn" })
  .map((turn) => ({ method: "_acp-hub/turn", params: { sessionId: "s1", queue: [], ...turn } }));

const settledNotice: fc.Arbitrary<ScriptedEvent> = fc.constantFrom("i1", "i2").map((interactionId) => ({
  method: "_acp-hub/interaction_settled",
  params: {
    interactionId,
    sessionId: "s1",
    ...(interactionId === "i1" && { toolCallId: "t1" }),
    outcome: { action: "answered", optionId: "yes" },
    by: { connectionId: "c", device: "d", name: "Pixel" },
    at: 1,
  },
}));

const unknown = fc.constant(update({ sessionUpdate: "weather_update", sky: "blue" }));

/** A history of up to 60 events of every kind. */
export const history: fc.Arbitrary<ScriptedEvent[]> = fc.array(
  fc.oneof(
    { arbitrary: chunk, weight: 6 },
    { arbitrary: tool, weight: 4 },
    { arbitrary: state, weight: 2 },
    turnNotice,
    settledNotice,
    image,
    unknown,
  ),
  { maxLength: 60 },
);

export function journalOf(events: readonly ScriptedEvent[]): Journal {
  const journal = new Journal(epoch(EPOCH), 64_000_000);
  for (const event of events) journal.append(1000, event.method, event.params, 100);
  return journal;
}

/** The events as a live reader gets them: one by one, each with its number. */
export function liveInputs(events: readonly ScriptedEvent[]): TranscriptInput[] {
  return events.map((event, index) => input(event, { epoch: EPOCH, seq: index + 1, ts: 1000 }));
}

/** Journal items as a loader gets them. */
export function replayInputs(items: readonly JournalItem[]): TranscriptInput[] {
  return items.map((item) => input({ method: item.method, params: itemParams(item) }, stampOf(item)));
}

function stampOf(item: JournalItem): Stamp {
  const from = item.first === item.last ? {} : { from: item.first };
  return { epoch: EPOCH, seq: item.last, ts: item.ts, replay: true, ...from };
}

const input = (event: ScriptedEvent, stamp: Stamp): TranscriptInput => ({ kind: "event", ...event, stamp });
