import fc from "fast-check";
import { expect, test } from "vitest";
import { PRESETS } from "../../../src/protocol/scopes.ts";
import { World } from "../../support/world/world.ts";

const CANCELLED = { outcome: { outcome: "cancelled" } };

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("deliver" as const), count: fc.nat({ max: 8 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("editor" as const), how: fc.nat({ max: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("abstain" as const), who: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), who: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("cut" as const, "dial" as const, "ask" as const) }) },
);

test("X3 whatever the order, an editor that steps back never ends a question a phone that was there still holds", () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), (seed, phones, steps) => {
      const world = new World({ seed }).start();
      const session = world.newSession();
      const clients = Array.from({ length: phones }, () => world.remote({ extended: true, scopes: PRESETS.driver }));
      for (const client of clients) world.load(client, session);
      const asks = [world.agent.askPermission(session)];
      let wasCut = false;
      const left = new Set<number>();
      /** Per question, the phones that stepped back from it. */
      const stepped = new Map<string, Set<number>>();
      const check = (): void => {
        for (const id of asks) {
          const isNonAnswer =
            world.agent.answers.has(id) && !JSON.stringify(world.agent.answerTo(id)).includes("optionId");
          if (!isNonAnswer || wasCut) continue;
          const gone = clients.filter((_, at) => left.has(at) || [...stepped.values()].some((who) => who.has(at)));
          expect(gone).toHaveLength(phones);
        }
      };
      for (const each of steps) {
        if (each.do === "deliver") for (let n = 0; n < each.count; n += 1) world.step();
        else if (each.do === "editor") {
          const [dialog] = world.primary.openDialogs;
          if (dialog === undefined) continue;
          if (each.how === 0) world.primary.answerError(dialog, -32603);
          else world.primary.answer(dialog, each.how === 1 ? CANCELLED : { outcome: "odd" });
        } else if (each.do === "abstain") {
          const client = clients[each.who];
          const dialog = client?.dialog;
          if (client === undefined || dialog === undefined || left.has(each.who)) continue;
          const name = JSON.stringify(dialog.params["_meta"]);
          stepped.set(name, (stepped.get(name) ?? new Set()).add(each.who));
          client.answerError(dialog, -32800);
        } else if (each.do === "leave") {
          const client = clients[each.who];
          if (client === undefined || left.has(each.who)) continue;
          left.add(each.who);
          world.disconnect(client);
        } else if (each.do === "cut") {
          wasCut = true;
          world.cut();
        } else if (each.do === "dial") {
          if (world.linkDown === undefined) world.dial();
        } else if (asks.length < 3) asks.push(world.agent.askPermission(session, `t${asks.length}`));
        check();
      }
      world.settle();
      check();
      if (world.linkDown === undefined) world.dial();
      // Nobody is stuck: whoever shows the question can still answer it.
      for (let round = 0; round < 10; round += 1) {
        world.settle().advance(2000);
        for (const client of [world.primary, ...world.clients])
          for (const dialog of client.openDialogs) client.choose("allow", dialog);
      }
      for (const id of asks) expect(world.agent.answers.has(id)).toBe(true);
      expect(world.problems).toEqual([]);
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 200) },
  );
});
