import fc from "fast-check";
import { expect, test } from "vitest";
import type { Call } from "../../../../src/core/root/calls.ts";
import { Lane, makePrompt, type Prompt } from "../../../../src/core/root/lane.ts";

const callOf = (key: string, n: number): Call => ({
  caller: { key, by: { connectionId: key, device: key, name: key }, isPrimary: key === "primary", isOwner: false },
  id: n,
  method: "session/prompt",
  params: { prompt: [{ type: "text", text: `${key} ${n}` }] },
  isOwed: () => true,
  answer: () => undefined,
});

type Move =
  | { readonly do: "prompt"; readonly who: string }
  | { readonly do: "end" | "gone" | "move"; readonly n: number };

const move = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("prompt"), who: fc.constantFrom("primary", "a", "b") }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("end", "gone", "move"), n: fc.nat(5) }) },
) as fc.Arbitrary<Move>;

test("P1 whatever comes and goes: one client's turn at a time, the primary first, each in order, nothing lost, the bound held", () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 80 }), fc.integer({ min: 1, max: 6 }), (moves, max) => {
      const lane = new Lane(() => max);
      const fate = new Map<Prompt, "waits" | "runs" | "done" | "refused">();
      let n = 0;
      const start = (prompt: Prompt): void => {
        lane.inFlight.add(prompt);
        fate.set(prompt, "runs");
      };
      let wasMoved = false;
      for (const each of moves) {
        if (each.do === "prompt") {
          const prompt = makePrompt(callOf(each.who, n), { prompt: [n] }, `p${n}`, n);
          n += 1;
          const decision = lane.admit(prompt.caller);
          if (decision === "start") start(prompt);
          else if (decision === "full") fate.set(prompt, "refused");
          else {
            lane.enqueue(prompt, "last");
            fate.set(prompt, "waits");
          }
        } else if (each.do === "end") {
          const [running] = lane.inFlight;
          if (running !== undefined) {
            lane.inFlight.delete(running);
            fate.set(running, "done");
          }
          const next = lane.takeNext();
          if (next !== undefined) start(next);
        } else if (each.do === "gone") {
          for (const prompt of lane.removeWaiting((other) => other.caller.key === "a" && each.n === 0))
            fate.set(prompt, "done");
        } else wasMoved = lane.move(`p${each.n}`, 0) || wasMoved;
        const waiting = lane.waiting;
        expect(new Set([...lane.inFlight].map((prompt) => prompt.caller.key)).size).toBeLessThan(2);
        expect(waiting.length).toBeLessThanOrEqual(max);
        expect(
          [...fate]
            .filter(([, state]) => state === "waits")
            .map(([prompt]) => prompt)
            .filter((prompt) => !waiting.includes(prompt) && !lane.inFlight.has(prompt)),
        ).toEqual([]);
        if (waiting.length > 0) expect(lane.isRunning).toBe(true);
        if (!wasMoved) {
          const order = waiting.map((prompt) => [prompt.caller.isPrimary ? 0 : 1, prompt.queuedAt]);
          expect(order).toEqual([...order].sort((x, y) => (x[0] ?? 0) - (y[0] ?? 0) || (x[1] ?? 0) - (y[1] ?? 0)));
        }
      }
    }),
  );
});

test("P3 outcomes are kept for 256 prompts, whatever the clock says meanwhile", () => {
  const lane = new Lane(() => 4);
  const prompts = Array.from({ length: 300 }, (_, n) => makePrompt(callOf("a", n), { prompt: [n] }, `p${n}`, 0));
  for (const prompt of prompts) lane.keepOutcome(prompt, { result: {} });
  expect(lane.findRetry("a", "p43")).toBeUndefined();
  expect(lane.findRetry("a", "p44")).toMatchObject({ outcome: {} });
  expect(lane.findRetry("b", "p299")).toBeUndefined();
});
