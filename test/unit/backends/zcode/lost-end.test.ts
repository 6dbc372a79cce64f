/** How the end of a turn is found when the event that tells it is lost (H15). */
import { afterEach, expect, test } from "vitest";
import { type JsonObject, objectAt } from "../../../../src/protocol/json.ts";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";
import type { Step } from "../../../support/fake-zcode/scenario.ts";

let h: Harness;
afterEach(() => h.end());

test("H15a only prompt_completed comes: the turn ends a little later", async () => {
  h = await harness({ prompts: [{ match: "", steps: [{ do: "text", text: "done" }, { do: "lose" }] }] });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"), 16_000);
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("done");
});

test("H15b nothing comes and the projection is idle: two looks end the turn", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "text", text: "done" },
          { do: "lose", all: true },
        ],
      },
    ],
  });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("the text is there", () => h.client.text() === "done");
  await h.clock.advance(14_000);
  expect(calls(h.fake, "session/read")).toHaveLength(0);
  const reply = await h.settle(prompt, 5_000);
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  expect(calls(h.fake, "session/read").length).toBeGreaterThanOrEqual(2);
});

test("H15c a running tool keeps a silent turn open", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          {
            do: "tool",
            payload: { kind: "scheduled", toolCallId: "c1", toolName: "Bash", input: { command: "sleep 9999" } },
          },
          { do: "tool", payload: { kind: "started", toolCallId: "c1" } },
          { do: "until", name: "end" },
          { do: "tool", payload: { kind: "result", toolCallId: "c1", result: { content: "ok" } } },
          { do: "text", text: "finished" },
        ],
      },
    ],
  });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("the tool runs", () => h.client.card("c1")["status"] === "in_progress");
  await h.clock.advance(25 * 60_000);
  h.fake.go("end");
  const reply = await h.settle(prompt);
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  // Life is passed on, but at most once a minute.
  const signs = h.client.of("tool_call_update").filter((update) => update["status"] === "in_progress");
  expect(signs.length).toBeGreaterThan(10);
  expect(signs.length).toBeLessThan(28);
});

test("H15d a turn that is frozen without a tool is given up and stopped", async () => {
  h = await harness({ prompts: [{ match: "", steps: [{ do: "text", text: "x" }, { do: "hang" }] }] });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("it speaks", () => h.client.text() === "x");
  await h.clock.advance(9 * 60_000);
  expect(calls(h.fake, "session/stop")).toHaveLength(0);
  const reply = await h.settle(prompt, 3 * 60_000);
  expect(reply.result?.["stopReason"]).toBe("max_turn_requests");
  expect(calls(h.fake, "session/stop")).toHaveLength(1);
});

test("H15e a moving watermark keeps a silent turn alive, told at most once a minute", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "text", text: "x" },
          { do: "until", name: "end" },
        ],
      },
    ],
  });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("it speaks", () => h.client.text() === "x");
  for (let minute = 0; minute < 20; minute++) {
    for (const session of h.fake.sessions.values()) session.state.contextUsed += 100;
    await h.clock.advance(60_000);
  }
  h.fake.go("end");
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
  const told = h.client.of("usage_update").length;
  expect(told).toBeGreaterThan(10);
  expect(told).toBeLessThanOrEqual(22);
});

test.each([
  ["before", "the end of the turn"],
  ["behind", "the end of the turn"],
  ["before", "a piece of its text"],
  ["behind", "a piece of its text"],
] as const)("H15f what is queued exactly at the deadline wins: %s the look that says idle, %s", async (place, what) => {
  const held: string[] = [];
  let looks = 0;
  let toBackend: (line: string) => void = () => undefined;
  const steps: Step[] = [
    { do: "text", text: "one" },
    { do: "text", text: " two" },
    { do: "complete", resultType: "error_max_turns" },
  ];
  h = await harness(
    { prompts: [{ match: "", steps }] },
    {
      deliver: (line, next) => {
        toBackend = next;
        const frame: JsonObject = JSON.parse(line);
        const isLook = objectAt(objectAt(frame, "result"), "projection") !== undefined && h.client.text() === "one";
        if (isLook) looks += 1;
        if (looks < 2 && frame["method"] !== undefined && (held.length > 0 || line.includes(" two"))) {
          held.push(line);
          return;
        }
        // In one piece with the answer of the second look, as one read of the pipe gives them.
        const due = isLook && looks === 2 ? held.splice(0, what === "the end of the turn" ? held.length : 1) : [];
        for (const each of place === "before" ? [...due, line] : [line, ...due]) next(each);
      },
    },
  );
  let isAnswered = false;
  const prompt = h.client.prompt(await h.newSession(), "go");
  void prompt.then(() => {
    isAnswered = true;
  });
  await h.until("the second look", () => looks === 2);
  if (what !== "the end of the turn") {
    await h.clock.advance(5_000);
    expect([isAnswered, h.client.text()]).toEqual([false, "one two"]);
    for (const line of held) toBackend(line);
  }
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("max_turn_requests");
  expect(h.client.text()).toBe("one two");
});
