/** Whatever a client does in whatever order, on every build: each request one answer, each question one, the lock freed. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { harness, type Reply } from "../../../support/fake-zcode/harness.ts";
import type { ProfileName, Step } from "../../../support/fake-zcode/scenario.ts";

type Act =
  | { readonly act: "prompt"; readonly script: "plain" | "asks" | "hangs" | "slow" | "lost" | "crashes" }
  | { readonly act: "cancel" | "load" | "answer" | "evict" | "compact" }
  | { readonly act: "wait"; readonly ms: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("prompt" as const),
      script: fc.constantFrom("plain", "asks", "hangs", "slow", "lost", "crashes"),
    }),
  },
  { weight: 5, arbitrary: fc.record({ act: fc.constantFrom("cancel", "load", "answer", "evict", "compact") }) },
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant("wait" as const), ms: fc.constantFrom(0, 5, 100, 700, 20_000) }),
  },
);

const OPTIONS = [{ optionId: "a", kind: "allow_once", name: "Allow", response: { decision: "allow" } }];
const PERMISSION = { toolCallId: "c", toolName: "Edit", reason: "x", riskLevel: "low", input: {}, options: OPTIONS };
const SCRIPTS: Readonly<Record<string, Step[]>> = {
  asks: [
    { do: "ask", name: "ask", method: "interaction/requestPermission", params: PERMISSION },
    { do: "expectAnswer", name: "ask" },
    { do: "text", text: "ok" },
  ],
  hangs: [{ do: "text", text: "x" }, { do: "hang" }],
  slow: [
    { do: "sleep", ms: 3_000 },
    { do: "text", text: "x" },
  ],
  lost: [
    { do: "text", text: "x" },
    { do: "lose", all: true },
  ],
  crashes: [{ do: "text", text: "x" }, { do: "sleep", ms: 50 }, { do: "crash" }],
};

async function play(profile: ProfileName, acts: readonly Act[]): Promise<void> {
  const prompts = Object.entries(SCRIPTS).map(([match, steps]) => ({ match, steps }));
  const h = await harness({ profile, prompts });
  const id = await h.newSession();
  const replies: Reply[] = [];
  let requests = 0;
  const count = (work: Promise<Reply>): void => {
    requests++;
    void work.then((reply) => replies.push(reply));
  };
  let answered = 0;
  const answer = (): void => {
    for (const asked of h.client.asked.slice(answered)) {
      answered++;
      asked.answer({ outcome: { outcome: "selected", optionId: "a" } });
    }
  };
  for (const [at, step] of acts.entries()) {
    if (step.act === "prompt") count(h.client.prompt(id, `${step.script} ${at}`));
    else if (step.act === "cancel") h.client.notify("session/cancel", { sessionId: id });
    else if (step.act === "load")
      count(h.client.request("session/load", { sessionId: id, cwd: "/project", mcpServers: [] }));
    else if (step.act === "compact") count(h.client.request("session/compact", { sessionId: id }));
    else if (step.act === "answer") answer();
    else if (step.act === "wait") await h.clock.advance(step.ms);
    else
      for (const session of h.fakes.at(-1)?.sessions.values() ?? [])
        if (session.turn === undefined) session.isResident = false;
  }
  // Let what can end by itself end, then cancel the rest.
  for (let tick = 0; tick < 40 && replies.length < requests; tick++) {
    answer();
    await h.clock.advance(1_000);
  }
  h.client.notify("session/cancel", { sessionId: id });
  await h.until("every request is answered", () => replies.length === requests, 20 * 60_000);
  expect(replies).toHaveLength(requests);
  const last = h.client.prompt(id, "plain, once more");
  const reply = await h.settle(last, 3 * 60_000);
  expect(reply.result?.["stopReason"], JSON.stringify(reply)).toBe("end_turn");
  expect(h.client.text()).toContain("echo: plain, once more");
  expect(h.fakes.at(-1)?.asks.open.filter((wait) => wait.name === "ask")).toEqual([]);
  await h.end();
}

test("random orders of prompts, cancels, loads, answers, evictions and crashes answer everything and leave the session usable", async () => {
  const profile = fc.constantFrom<ProfileName>("0.15", "0.16.5-aug", "3.12", "0.16.9");
  await fc.assert(fc.asyncProperty(profile, fc.array(act, { maxLength: 8 }), play), { numRuns: 60 });
});
