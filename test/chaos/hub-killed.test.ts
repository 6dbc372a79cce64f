import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dice, expectAlike, expectOnce, pause, roundsOr, story } from "../support/chaos.ts";
import { Follower } from "../support/follower.ts";
import { Stage, textPrompt } from "../support/stage.ts";

const ROUNDS = roundsOr(8);

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

describe("a hub killed again and again", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.end());

  it(
    `L2 S3 X2 P3 ${ROUNDS} kills at random moments: nothing lost, nothing twice, each question answered once, each prompt run once`,
    async () => {
      const random = dice("hub killed");
      let hub = await stage.serve();
      const port = String(hub.port);
      const { editor, sessionId } = await stage.share(story(stage.home.dir));
      const query = `?instance=${(await stage.linked())[0]?.id}`;
      const token = await stage.token("driver");
      await stage.token("viewer");
      const seat = (isAuthor: boolean, isPlain: boolean) => ({
        isAuthor,
        follower: new Follower({
          url: () => stage.acp(query),
          token,
          sessionId,
          isAuthor,
          ...(isPlain && { capabilities: {} }),
          onAsk: (answer) =>
            void pause(random.between(0, 120)).then(() => answer(random.pick(["allow", "always", "reject"]))),
        }),
      });
      const seats = [seat(true, false), seat(true, false), seat(false, false), seat(false, true)];
      for (const { follower } of seats) follower.start();
      let isOver = false;
      const texts: string[] = [];
      const converse = async (name: string, say: (text: string, id: string) => Promise<unknown>): Promise<void> => {
        for (let turn = 0; !isOver; turn += 1) {
          texts.push(`${name} ${turn}`);
          expect(await say(`${name} ${turn}`, `${name}-${turn}`)).toMatchObject({ stopReason: "end_turn" });
          await pause(random.between(0, 50));
        }
      };
      const talks = [
        converse("editor", (text) => editor.call("session/prompt", textPrompt(sessionId, text))),
        ...seats
          .slice(0, 2)
          .map(({ follower }, index) => converse(`phone${index}`, (text, id) => follower.prompt(text, id))),
      ];
      let kills = 0;
      let earlyKills = 0;
      while (kills < ROUNDS) {
        await pause(random.between(20, 500));
        await killed(hub.child);
        kills += 1;
        // The next may die before it listens: with the file half open, the lock just taken, the log half read.
        while (kills < ROUNDS && random.chance(0.4)) {
          const early = stage.home.spawn(["serve", "--port", port]);
          await pause(random.between(0, 700));
          await killed(early);
          kills += 1;
          earlyKills += 1;
        }
        await pause(random.between(0, 150));
        hub = await stage.serve(["--port", port]);
      }
      console.log(`hub killed: ${kills} times, ${earlyKills} of them while it started; ${texts.length} turns`);
      isOver = true;
      await Promise.all(talks);
      expectOnce(stage.home.dir, texts);
      await stage.linked();
      await expectAlike(stage, query, sessionId, editor, seats);
      for (const { follower } of seats) {
        expect(follower.reconnects).toBeGreaterThan(0);
        expect(follower.restarts).toBe(0);
        await follower.stop();
      }
      expect((await stage.api("GET", "/api/interactions")).body).toEqual([]);
    },
    30_000 + ROUNDS * 6000,
  );
});
