import fc from "fast-check";
import { expect, test } from "vitest";
import { Chaos, type Step } from "../../support/world/chaos.ts";
import { Fleet, type FleetStep } from "../../support/world/fleet.ts";

const who = fc.nat({ max: 5 });
const n = fc.nat({ max: 3 });
const personal = fc.constantFrom("load", "prompt", "cancel", "stall", "drain", "leave", "return", "setMode");
const agentDoes = fc.constantFrom("say", "think", "tool", "toolDone", "ask", "form", "plan", "end", "withdraw");

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("connect"), extended: fc.boolean(), forms: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: personal, who }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("retry"), who, prompt: n }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("answer"), who, how: fc.nat({ max: 6 }) }) },
  { weight: 10, arbitrary: fc.record({ do: agentDoes, n }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("cut", "dial", "hub", "stallLink", "drainLink") }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("deliver"), count: fc.nat({ max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(300, 1000) }) },
) as fc.Arbitrary<Step>;

const RUNS = Number(process.env["FC_RUNS"] ?? 60);
const SETTINGS = {
  numRuns: RUNS,
  ...(process.env["FC_SEED"] !== undefined && { seed: Number(process.env["FC_SEED"]) }),
};

function holds(journalBytes: number): void {
  fc.assert(
    fc.property(fc.nat(), fc.array(step, { minLength: 5, maxLength: 120 }), (seed, steps) => {
      const chaos = new Chaos(seed, journalBytes);
      for (const each of steps) chaos.run(each);
      expect(chaos.finish()).toEqual([]);
    }),
    SETTINGS,
  );
}

test("R3, P2, P3, B2, X2 whatever clients, agent and network do, everybody is answered once and sees what a fresh load gives", () => {
  holds(4_000_000);
});

test("B5, S3 the same holds while the journals shrink under the readers", () => {
  holds(6000);
});

const at = fc.nat({ max: 1 });
const wide = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("load", "prompt", "retry", "answer") },
  { weight: 1, arbitrary: fc.constantFrom("cancel", "stall", "drain", "leave", "return") },
);
const onePlace = step.filter((each) => each.do !== "hub" && each.do !== "deliver" && each.do !== "wait");

const fleetStep: fc.Arbitrary<FleetStep> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant("at"), at, step: onePlace }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("join"),
      options: fc.record({ extended: fc.boolean(), forms: fc.boolean() }),
    }),
  },
  { weight: 12, arbitrary: fc.record({ do: wide, who: fc.nat({ max: 2 }), at, n: fc.nat({ max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("hub") }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("deliver"), count: fc.nat({ max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(300, 1000) }) },
) as fc.Arbitrary<FleetStep>;

function holdsForFleet(journalBytes: number): void {
  fc.assert(
    fc.property(fc.nat(), fc.array(fleetStep, { minLength: 5, maxLength: 120 }), (seed, steps) => {
      const fleet = new Fleet(seed, journalBytes);
      for (const each of steps) fleet.run(each);
      expect(fleet.finish()).toEqual([]);
    }),
    SETTINGS,
  );
}

test("S9, P5, X2, P3 two agents at one hub, with clients of the whole hub among the others: the same holds", () => {
  holdsForFleet(4_000_000);
});

test("S9, B5 and while the journals shrink under them", () => {
  holdsForFleet(6000);
});
