import fc from "fast-check";
import { expect, test } from "vitest";
import { Chaos, type Step } from "../../support/world/chaos.ts";

const who = fc.nat({ max: 5 });
const n = fc.nat({ max: 3 });
const personal = fc.constantFrom("load", "prompt", "cancel", "stall", "drain", "leave", "return", "setMode");
const agentDoes = fc.constantFrom("say", "think", "tool", "toolDone", "ask", "form", "plan", "end", "withdraw");

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("connect"), extended: fc.boolean(), forms: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: personal, who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("retry"), who, prompt: n }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("answer"), who, how: fc.nat({ max: 6 }) }) },
  { weight: 10, arbitrary: fc.record({ do: agentDoes, n }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("cut", "dial", "hub", "stallLink", "drainLink") }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("deliver"), count: fc.nat({ max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(300, 1000) }) },
) as fc.Arbitrary<Step>;

const RUNS = Number(process.env["FC_RUNS"] ?? 60);

function holds(journalBytes: number): void {
  fc.assert(
    fc.property(fc.nat(), fc.array(step, { minLength: 5, maxLength: 120 }), (seed, steps) => {
      const chaos = new Chaos(seed, journalBytes);
      for (const each of steps) chaos.run(each);
      expect(chaos.finish()).toEqual([]);
    }),
    { numRuns: RUNS, ...(process.env["FC_SEED"] !== undefined && { seed: Number(process.env["FC_SEED"]) }) },
  );
}

test("R3, P2, B2, X2 whatever clients, agent and network do, everybody is answered once and sees what a fresh load gives", () => {
  holds(4_000_000);
});

test("B5, S3 the same holds while the journals shrink under the readers", () => {
  holds(6000);
});
