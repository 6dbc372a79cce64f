import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dice, expectAlike, expectOnce, pause, roundsOr, story } from "../support/chaos.ts";
import { Follower } from "../support/follower.ts";
import { canSetClock, SetClock } from "../support/set-clock.ts";
import { Stage, textPrompt } from "../support/stage.ts";

const ROUNDS = roundsOr(10);
const HOUR = 3600;
const DAY = 86_400;

describe("a clock that is set while work goes on", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.end());

  it.runIf(canSetClock)(
    `L4 L5 X2 P3 ${ROUNDS} jumps of hours, days, to 1970 and weeks ahead: nobody is dropped, nothing is lost, no code lives on`,
    async () => {
      const random = dice("clock set");
      const clock = new SetClock(stage.home.dir);
      // A ping wheel that turns within the test.
      const hub = await stage.serve([], { ...clock.env, ACP_HUB_LIMITS_PING_MS: "2000" });
      const { editor, sessionId } = await stage.share(story(stage.home.dir), [], {}, clock.env);
      const query = `?instance=${(await stage.linked())[0]?.id}`;
      const token = await stage.token("driver");
      await stage.token("viewer");
      const seats = [true, false].map((isAuthor) => ({
        isAuthor,
        follower: new Follower({
          url: () => stage.acp(query),
          token,
          sessionId,
          isAuthor,
          onAsk: (answer) => void pause(random.between(0, 100)).then(() => answer("allow")),
        }),
      }));
      for (const { follower } of seats) follower.start();
      const texts: string[] = [];
      let isOver = false;
      const talk = async (name: string, say: (text: string, id: string) => Promise<unknown>): Promise<void> => {
        for (let turn = 0; !isOver; turn += 1) {
          texts.push(`${name} ${turn}`);
          expect(await say(`${name} ${turn}`, `${name}-${turn}`)).toMatchObject({ stopReason: "end_turn" });
        }
      };
      const talks = [
        talk("editor", (text) => editor.call("session/prompt", textPrompt(sessionId, text))),
        talk("phone", (text, id) => seats[0]?.follower.prompt(text, id) ?? Promise.reject(new Error("no phone"))),
      ];
      const made = await stage.api("POST", "/api/pairings", { scope: "viewer", ttlSeconds: 10 });
      const code = String((made.body as { code: string }).code);
      const since = performance.now();
      // Not so far ahead that a token of a year is over: that would end its sockets, and rightly.
      const jumps = [HOUR, -HOUR, DAY, -2 * DAY, -(Date.now() / 1000 - DAY), 20 * DAY];
      for (let round = 0; round < ROUNDS; round += 1) {
        clock.set(round < jumps.length ? (jumps[round] ?? 0) : random.pick(jumps) + random.between(-DAY, DAY));
        await pause(random.between(300, 900));
        expect((await stage.instances()).map(({ state }) => state)).toEqual(["up"]);
      }
      // The hub does have the clock it was given; a Date header is made anew once a second.
      clock.set(HOUR);
      await expect
        .poll(async () => (await stage.home.run(["doctor", "--json"])).stdout, { timeout: 10_000, interval: 300 })
        .toMatch(/the hub's clock is 3[56]\d\d s ahead/);
      // Set back for good: the code has had its ten seconds all the same.
      clock.set(-DAY);
      await pause(Math.max(0, 10_500 - (performance.now() - since)));
      expect((await stage.api("POST", "/api/pair", { code, name: "late" })).status).toBe(401);
      clock.set(0);
      isOver = true;
      await Promise.all(talks);
      expectOnce(stage.home.dir, texts);
      for (const { follower } of seats)
        expect([follower.codes, follower.reconnects, follower.restarts]).toEqual([[], 0, 0]);
      await expectAlike(stage, query, sessionId, editor, seats);
      for (const { follower } of seats) await follower.stop();
      expect(hub.child.exitCode).toBeNull();
    },
    60_000 + ROUNDS * 3000,
  );
});
