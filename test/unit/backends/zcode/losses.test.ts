/** What gets lost between ZCode and us, and what ZCode settles by itself. */
import { afterEach, expect, test } from "vitest";
import { type JsonObject, objectAt } from "../../../../src/protocol/json.ts";
import { type Harness, harness } from "../../../support/fake-zcode/harness.ts";
import { asking, PERMISSION, permission, questions, USER_INPUT } from "../../../support/fake-zcode/questions.ts";
import type { Step } from "../../../support/fake-zcode/scenario.ts";

let h: Harness;
afterEach(() => h.end());

/** Loses the first line that holds `mark`. */
function losing(mark: (frame: JsonObject) => boolean): (line: string, next: (line: string) => void) => void {
  let isLost = false;
  return (line, next) => {
    if (isLost || !mark(JSON.parse(line) as JsonObject)) return next(line);
    isLost = true;
  };
}

test("row 17 an event that was lost comes with the next look into a silent turn, in its place", async () => {
  const steps: Step[] = [
    { do: "text", text: "a" },
    { do: "text", text: "b", stored: false },
    { do: "sleep", ms: 40_000 },
    { do: "text", text: "c" },
  ];
  const deliver = losing((frame) => JSON.stringify(frame).includes('"delta":"b"'));
  h = await harness({ prompts: [{ match: "", steps }] }, { deliver });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("it is caught up", () => h.client.text() === "ab", 30_000);
  await h.settle(prompt);
  expect(h.client.text()).toBe("abc");
});

test("row 20 the turn of a send whose answer was lost goes on", async () => {
  const deliver = losing((frame) => objectAt(frame, "result")?.["accepted"] === true);
  const steps: Step[] = [
    { do: "text", text: "a" },
    { do: "sleep", ms: 20_000 },
    { do: "text", text: "b" },
  ];
  h = await harness({ prompts: [{ match: "", steps }] }, { deliver });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("ab");
});

test("row 117 a question whose call ended without it is taken down, though nothing says that it was settled", async () => {
  const steps: Step[] = [
    { do: "ask", name: "ask", method: PERMISSION, params: permission("r1", "c1") },
    { do: "sleep", ms: 500 },
    { do: "tool", payload: { kind: "error", toolCallId: "c1", error: { message: "settled elsewhere" } } },
    { do: "until", name: "end" },
  ];
  h = await harness({ prompts: [{ match: "", steps }] });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("it is shown", () => h.client.asked.length === 1);
  await h.until("it goes", () => h.client.withdrawn.length === 1, 900);
  expect(h.client.withdrawn).toEqual([h.client.asked[0]?.id]);
  h.client.notify("session/cancel", { sessionId: String(h.client.asked[0]?.params["sessionId"]) });
  await h.settle(prompt);
});

test("H8 words of one's own take the place of a choice, and join several", async () => {
  h = await harness(
    { prompts: [{ match: "", steps: asking(USER_INPUT, questions("q", "c_q")) }] },
    { capabilities: { elicitation: { form: {} } } },
  );
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("it is asked", () => h.client.asked.length === 1);
  const content = { q_0: "a", q_0_other: "mine", q_1: ["x", "__skip__"], q_1_other: "x" };
  h.client.asked[0]?.answer({ action: "accept", content });
  await h.settle(prompt);
  const ask = h.fake.asks.all.find((wait) => wait.method === USER_INPUT);
  expect(ask?.result).toEqual({ action: "accept", content: { answers: { Q1: "mine", Q2: "x" } } });
});

test("T2 nothing of a cancelled turn of the backend's own is shown, however long it goes on", async () => {
  const steps: Step[] = [
    { do: "text", text: "g" },
    { do: "until", name: "late" },
    { do: "text", text: "late" },
  ];
  h = await harness({ knobs: { ignoresStop: "v4" }, prompts: [{ match: "goal", steps }] });
  const id = await h.newSession();
  await h.settle(h.client.request("session/goal", { sessionId: id, action: "set", objective: "goal" }));
  await h.until("the goal runs", () => h.client.text() === "g");
  h.client.notify("session/cancel", { sessionId: id });
  await h.clock.advance(1_000);
  h.fake.go("late");
  await h.clock.advance(1_000);
  expect((await h.settle(h.client.prompt(id, "next"))).result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("gecho: next");
});
