/** One conversation under two ids: an editor's placeholder, and ZCode's own id out of a list. */
import { afterEach, expect, test } from "vitest";
import { MemorySessionMap } from "../../../../src/backends/zcode/sessions/session-map.ts";
import { type JsonObject, objectAt, stringAt } from "../../../../src/protocol/json.ts";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";
import { PERMISSION, permission } from "../../../support/fake-zcode/questions.ts";
import type { Knobs, Step } from "../../../support/fake-zcode/scenario.ts";

let h: Harness;
afterEach(() => h.end());

const MESSAGES: JsonObject[] = [
  { info: { id: "m1", role: "user" }, parts: [{ type: "text", text: "before" }] },
  { info: { id: "m2", role: "assistant" }, parts: [{ type: "text", text: "reply" }] },
];
const load = (sessionId: string) => h.client.request("session/load", { sessionId, cwd: "/", mcpServers: [] });
/** What was said under an id, in order. */
const under = (id: string): string[] =>
  h.client.frames.flatMap((frame) => {
    const params = objectAt(frame, "params");
    const update = objectAt(params, "update");
    if (params?.["sessionId"] !== id || !String(update?.["sessionUpdate"]).endsWith("message_chunk")) return [];
    return [stringAt(objectAt(update, "content"), "text") ?? ""];
  });

async function opened(steps: readonly Step[], knobs: Knobs = {}): Promise<void> {
  const store = new MemorySessionMap();
  await store.save("u1", { cwd: "/project", zcodeSid: "sess_old", createdAt: 1 });
  const sessions = [{ sessionId: "sess_old", cwd: "/project", messages: MESSAGES }];
  h = await harness({ sessions, knobs, prompts: [{ match: "", steps }] }, { store });
}

test("S6 closing one of its ids leaves the turn, the question and everything else to the other", async () => {
  await opened([
    { do: "text", text: "x" },
    { do: "ask", name: "ask", method: PERMISSION, params: permission("r1", "c1") },
    { do: "expectAnswer", name: "ask" },
    { do: "text", text: "y" },
  ]);
  const prompt = h.client.prompt("u1", "go");
  await h.until("it asks", () => h.client.asked.length === 1);
  await h.settle(load("sess_old"));
  await h.until("it asks there, too", () => h.client.asked.length === 2);
  const [mine, other] = h.client.asked;
  const closed = await h.settle(h.client.request("session/close", { sessionId: "sess_old" }));
  expect(closed.result).toEqual({});
  expect(h.client.withdrawn).toEqual([other?.id]);
  // What a client says of a dialog that goes with its session is no answer of the person.
  other?.answer({ outcome: { outcome: "cancelled" } });
  const there = under("sess_old").length;
  mine?.answer({ outcome: { outcome: "selected", optionId: "allow_once" } });
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
  expect(under("u1").join("")).toBe("xy");
  expect(under("sess_old")).toHaveLength(there);
  expect(calls(h.fake, "session/close")).toEqual([]);
  await h.settle(h.client.request("session/close", { sessionId: "u1" }));
  expect(calls(h.fake, "session/close")).toHaveLength(1);
});

test("X3 who gives a question up under one of its ids leaves it to who is asked under the other", async () => {
  await opened([
    { do: "ask", name: "ask", method: PERMISSION, params: permission("r1", "c1") },
    { do: "expectAnswer", name: "ask" },
    { do: "text", text: "y" },
  ]);
  const prompt = h.client.prompt("u1", "go");
  await h.until("it asks", () => h.client.asked.length === 1);
  await h.settle(load("sess_old"));
  await h.until("it asks there, too", () => h.client.asked.length === 2);
  const [mine, other] = h.client.asked;
  other?.answer({ outcome: { outcome: "cancelled" } });
  await h.clock.advance(1_000);
  expect(h.client.withdrawn).toEqual([]);
  mine?.answer({ outcome: { outcome: "selected", optionId: "allow_once" } });
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
  expect(under("u1")).toEqual(["y"]);
});

test("X5 who gave a question up under one id is asked again when the other id is closed", async () => {
  await opened([
    { do: "ask", name: "ask", method: PERMISSION, params: permission("r1", "c1") },
    { do: "expectAnswer", name: "ask" },
    { do: "text", text: "y" },
  ]);
  const prompt = h.client.prompt("u1", "go");
  await h.until("it asks", () => h.client.asked.length === 1);
  await h.settle(load("sess_old"));
  await h.until("it asks there, too", () => h.client.asked.length === 2);
  h.client.asked[0]?.answer({ outcome: { outcome: "cancelled" } });
  await h.clock.advance(100);
  await h.settle(h.client.request("session/close", { sessionId: "sess_old" }));
  await h.until("it asks again", () => h.client.asked.length === 3);
  expect(h.client.asked[2]?.params["sessionId"]).toBe("u1");
  h.client.asked[2]?.answer({ outcome: { outcome: "selected", optionId: "allow_once" } });
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
  expect(under("u1")).toEqual(["y"]);
});

test("row 82 a load under one id takes nothing of the running turn from who reads along under the other", async () => {
  await opened(
    [
      { do: "text", text: "x" },
      { do: "until", name: "more" },
      { do: "text", text: "y" },
      { do: "until", name: "end" },
      { do: "text", text: "z" },
    ],
    { messagesDelayMs: 500 },
  );
  const prompt = h.client.prompt("u1", "go");
  await h.until("it speaks", () => under("u1").at(-1) === "x");
  const loading = load("sess_old");
  await h.clock.advance(300);
  h.fake.go("more");
  await h.settle(loading);
  h.fake.go("end");
  await h.settle(prompt);
  expect(under("u1").join("")).toBe("xyz");
  expect(under("sess_old").join("|")).toMatch(/^before\|reply\|go\|x\|?y\|z$/);
});

test("row 82 two loads side by side: what comes live follows the history of both", async () => {
  await opened(
    [
      { do: "text", text: "x" },
      { do: "until", name: "more" },
      { do: "text", text: "y" },
    ],
    { messagesDelayMs: 500 },
  );
  await h.settle(load("u1"));
  const prompt = h.client.prompt("u1", "go");
  await h.until("it speaks", () => under("u1").at(-1) === "x");
  const first = load("u1");
  await h.clock.advance(300);
  const second = load("sess_old");
  await h.settle(first);
  h.fake.go("more");
  await h.settle(second);
  await h.settle(prompt);
  expect(under("sess_old").join("|")).toMatch(/^before\|reply\|go\|x\|?y$/);
});
