/** Cancel, preempt and the lock of the backend. */
import { afterEach, expect, test } from "vitest";
import { stringAt } from "../../../../src/protocol/json.ts";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";

let h: Harness;
afterEach(() => h.end());

const stops = (): number => h.fake.received.filter((frame) => frame["method"] === "v4/command").length;

test("row 41 43 a cancel answers at once, closes the cards, and sends both stops with an id", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "text", text: "x" },
          { do: "tool", payload: { kind: "scheduled", toolCallId: "c1", toolName: "Bash", input: { command: "ls" } } },
          { do: "hang" },
        ],
      },
    ],
  });
  const id = await h.newSession();
  const prompt = h.client.prompt(id, "go");
  await h.until("the card is there", () => h.client.card("c1")["status"] === "pending");
  h.client.notify("session/cancel", { sessionId: id });
  const reply = await h.settle(prompt, 100);
  expect(reply.result?.["stopReason"]).toBe("cancelled");
  expect(h.client.card("c1")["status"]).toBe("failed");
  await h.until("the stops arrive", () => stops() === 1 && calls(h.fake, "session/stop").length === 1);
});

test("H11 a second prompt preempts: the first is cancelled, and nothing late of it shows under the second", async () => {
  h = await harness({
    prompts: [
      {
        match: "A",
        steps: [
          { do: "text", text: "a1 " },
          { do: "until", name: "never" },
        ],
      },
      {
        match: "B",
        steps: [
          { do: "event", type: "model.streaming", turnId: "turn_1", payload: { kind: "text_delta", delta: "GHOST" } },
          { do: "event", type: "turn.completed", turnId: "turn_1", payload: { resultType: "cancelled" } },
          { do: "text", text: "b" },
        ],
      },
    ],
  });
  const id = await h.newSession();
  const first = h.client.prompt(id, "A");
  await h.until("A speaks", () => h.client.text() === "a1 ");
  const second = h.client.prompt(id, "B");
  expect((await h.settle(first)).result?.["stopReason"]).toBe("cancelled");
  expect((await h.settle(second)).result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("a1 b");
  expect(h.fake.sent.filter((frame) => stringAt(frame["params"] as never, "type") === "turn.started")).toHaveLength(2);
});

test("H12 three prompts in one tick on a lazy session: one create, the last one runs, no busy error surfaces", async () => {
  h = await harness({});
  const id = await h.newSession();
  const replies = await h.settle(Promise.all(["one", "two", "three"].map((text) => h.client.prompt(id, text))));
  expect(replies.map((reply) => reply.result?.["stopReason"])).toEqual(["cancelled", "cancelled", "end_turn"]);
  expect(calls(h.fake, "session/create")).toHaveLength(1);
  expect(h.client.text()).toBe("echo: three");
});

const BUSY = { code: -32010, message: "A prompt is already running for this session" };

test.each([
  ["a", BUSY],
  ["b", { code: 1308, message: "prompt is running" }],
])("H13%s a busy session is asked again until it accepts", async (_name, busy) => {
  h = await harness({ knobs: { busy: { times: 5, ...busy } } });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  expect(calls(h.fake, "session/send")).toHaveLength(6);
});

test("H13c a quota error under the old busy code fails at once", async () => {
  h = await harness({ knobs: { busy: { times: 99, code: 1308, message: "quota exceeded" } } });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"), 1_000);
  expect(reply.error?.message).toBe("quota exceeded");
  expect(calls(h.fake, "session/send")).toHaveLength(1);
});

test("H13d busy for too long is a clear error, and a cancel during the wait sends nothing more", async () => {
  h = await harness({ knobs: { busy: { times: 9_999, ...BUSY } } });
  const id = await h.newSession();
  const reply = await h.settle(h.client.prompt(id, "go"));
  expect(reply.error?.message).toMatch(/still busy/);
  const waiting = h.client.prompt(id, "again");
  await h.clock.advance(3_000);
  h.client.notify("session/cancel", { sessionId: id });
  expect((await h.settle(waiting, 500)).result?.["stopReason"]).toBe("cancelled");
  const sent = calls(h.fake, "session/send").length;
  await h.clock.advance(5_000);
  expect(calls(h.fake, "session/send")).toHaveLength(sent);
  // What holds the session is not the prompt's: nothing of it is stopped.
  expect(calls(h.fake, "session/stop")).toEqual([]);
});

test("row 42 a build whose session/stop does nothing is stopped by the v4 command", async () => {
  h = await harness({
    profile: "0.16.5-aug",
    prompts: [{ match: "A", steps: [{ do: "text", text: "a" }, { do: "hang" }] }],
  });
  const id = await h.newSession();
  const first = h.client.prompt(id, "A");
  await h.until("A speaks", () => h.client.text() === "a");
  const second = h.client.prompt(id, "B");
  expect((await h.settle(first)).result?.["stopReason"]).toBe("cancelled");
  expect((await h.settle(second)).result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("aecho: B");
});

test("row 45 46 a build that ignores every stop is closed, resumed and subscribed again before the next prompt", async () => {
  h = await harness({
    profile: "0.16.5-aug",
    knobs: { ignoresStop: "v4" },
    prompts: [{ match: "A", steps: [{ do: "text", text: "a" }, { do: "hang" }] }],
  });
  const id = await h.newSession();
  const first = h.client.prompt(id, "A");
  await h.until("A speaks", () => h.client.text() === "a");
  h.client.notify("session/cancel", { sessionId: id });
  await h.settle(first);
  const reply = await h.settle(h.client.prompt(id, "B"));
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("aecho: B");
  const order = h.fake.received.map((frame) => frame["method"]);
  expect(order.indexOf("session/close")).toBeGreaterThan(0);
  expect(order.lastIndexOf("session/subscribe")).toBeGreaterThan(order.indexOf("session/resume"));
  expect(order.lastIndexOf("session/send")).toBeGreaterThan(order.lastIndexOf("session/subscribe"));
});

test("row 3 a build that queues a send into the running turn: the prompt ends with that turn", async () => {
  h = await harness({
    profile: "0.15",
    prompts: [
      {
        match: "goal",
        steps: [
          { do: "text", text: "g" },
          { do: "until", name: "end" },
        ],
      },
    ],
  });
  const id = await h.newSession();
  await h.settle(h.client.request("session/goal", { sessionId: id, action: "set", objective: "goal" }));
  await h.until("the goal runs", () => h.client.text() === "g");
  const prompt = h.client.prompt(id, "also this");
  await h.until("it is queued", () => h.client.notices("_acp-hub/backend_queue").length === 2);
  expect(h.client.notices("_acp-hub/backend_queue")[0]).toMatchObject({
    entries: [{ id: "pending_1", title: "also this" }],
  });
  h.fake.go("end");
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
});

test("a cancel reaches a turn of the backend's own", async () => {
  h = await harness({ prompts: [{ match: "goal", steps: [{ do: "text", text: "g" }, { do: "hang" }] }] });
  const id = await h.newSession();
  await h.settle(h.client.request("session/goal", { sessionId: id, action: "set", objective: "goal" }));
  await h.until("the goal runs", () => h.client.text() === "g");
  h.client.notify("session/cancel", { sessionId: id });
  await h.until("the end is told", () =>
    h.client.notices("_acp-hub/backend_turn").some((notice) => notice["running"] === false),
  );
  expect(calls(h.fake, "session/stop")).toHaveLength(1);
  expect((await h.settle(h.client.prompt(id, "next"))).result?.["stopReason"]).toBe("end_turn");
});

test("a $/cancel_request for the prompt cancels it", async () => {
  h = await harness({ prompts: [{ match: "", steps: [{ do: "text", text: "x" }, { do: "hang" }] }] });
  const id = await h.newSession();
  const prompt = h.client.prompt(id, "go");
  await h.until("it speaks", () => h.client.text() === "x");
  h.client.notify("$/cancel_request", { requestId: 3 });
  expect((await h.settle(prompt, 200)).result?.["stopReason"]).toBe("cancelled");
});

test("builds that name no turn at all: prompts, a notification in between and a preempt stay apart by their order", async () => {
  h = await harness({
    knobs: { hidesTurnIds: true },
    prompts: [
      {
        match: "A",
        steps: [
          { do: "text", text: "a1 ", message: "mA" },
          { do: "event", type: "turn.started", payload: { inputSource: "background_task" } },
          { do: "event", type: "model.streaming", payload: { kind: "text_delta", delta: "report " } },
          { do: "event", type: "turn.completed", payload: { resultType: "success" } },
          { do: "text", text: "a2 ", message: "mA" },
          { do: "hang" },
        ],
      },
    ],
  });
  const id = await h.newSession();
  const first = h.client.prompt(id, "A");
  await h.until("A spoke", () => h.client.text() === "a1 report a2 ");
  expect(h.client.text("mA")).toBe("a1 a2 ");
  const second = h.client.prompt(id, "B");
  expect((await h.settle(first)).result?.["stopReason"]).toBe("cancelled");
  expect((await h.settle(second)).result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("a1 report a2 echo: B");
});

test("T2 nothing of a cancelled turn is shown, however long a build that ignores the stop goes on", async () => {
  const steps = [
    { do: "text", text: "a" },
    { do: "until", name: "more" },
    { do: "text", text: "GHOST" },
    { do: "tool", payload: { kind: "scheduled", toolCallId: "ghost", toolName: "Bash", input: { command: "x" } } },
    { do: "hang" },
  ] as const;
  h = await harness({ profile: "0.16.5-aug", knobs: { ignoresStop: "v4" }, prompts: [{ match: "A", steps }] });
  const id = await h.newSession();
  const prompt = h.client.prompt(id, "A");
  await h.until("A speaks", () => h.client.text() === "a");
  h.client.notify("session/cancel", { sessionId: id });
  await h.settle(prompt);
  h.fake.go("more");
  await h.clock.advance(2_000);
  expect(h.client.text()).toBe("a");
  expect(h.client.of("tool_call")).toEqual([]);
});
