import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makePrivateDir } from "../../src/config/paths.ts";
import { dice, expectAlike, expectOnce, pause, roundsOr, story } from "../support/chaos.ts";
import { Follower } from "../support/follower.ts";
import { LinkProxy } from "../support/link-proxy.ts";
import { openSession, Stage, scripted, textPrompt } from "../support/stage.ts";

const ROUNDS = roundsOr(10);

describe("a link that is cut, held up and opened again", () => {
  /** Where the editor and its bridge live; the hub is at home elsewhere, behind the proxy. */
  let near: Stage;
  let stage: Stage;
  let proxy: LinkProxy;
  /** Between two of the phones and the hub. */
  let far: LinkProxy;
  beforeEach(async () => {
    near = new Stage();
    stage = new Stage();
    far = new LinkProxy((await stage.serve()).port);
    makePrivateDir(near.paths.runDir);
    proxy = new LinkProxy(stage.paths.linkSocket);
    await proxy.listen(near.paths.linkSocket);
  });
  afterEach(async () => {
    await near.end();
    await proxy.close();
    await far.close();
    await stage.end();
  });

  it(
    `R4 R5 X2 P3 ${ROUNDS} cuts and stalls of links, phones that drop, hub, bridge and clients stopped or killed: nothing lost, nothing twice`,
    async () => {
      const random = dice("link cut");
      const { editor, child } = near.home.bridge(scripted(story(near.home.dir)));
      const sessionId = await openSession(editor);
      const query = `?instance=${(await stage.linked())[0]?.id}`;
      const token = await stage.token("driver");
      await stage.token("viewer");
      const hubPid = (await stage.hubInfo())?.pid ?? 0;
      const farPort = await far.listenOnPort();
      const seat = (isAuthor: boolean, isFar: boolean) => ({
        isAuthor,
        follower: new Follower({
          url: () => (isFar ? stage.acp(query).replace(/:\d+/, `:${farPort}`) : stage.acp(query)),
          token,
          sessionId,
          isAuthor,
          onAsk: (answer) => void pause(random.between(0, 150)).then(() => answer(random.pick(["allow", "reject"]))),
        }),
      });
      const seats = [seat(true, false), seat(true, true), seat(false, false), seat(false, true)];
      for (const { follower } of seats) follower.start();
      let isOver = false;
      const texts: string[] = [];
      const converse = async (name: string, say: (text: string, id: string) => Promise<unknown>): Promise<void> => {
        for (let turn = 0; !isOver; turn += 1) {
          texts.push(`${name} ${turn}`);
          expect(await say(`${name} ${turn}`, `${name}-${turn}`)).toMatchObject({ stopReason: "end_turn" });
        }
      };
      const talks = [
        converse("editor", (text) => editor.call("session/prompt", textPrompt(sessionId, text))),
        ...seats
          .slice(0, 2)
          .map(({ follower }, index) => converse(`phone${index}`, (text, id) => follower.prompt(text, id))),
      ];
      const stopFor = async (pid: number, ms: number): Promise<void> => {
        process.kill(pid, "SIGSTOP");
        await pause(ms);
        process.kill(pid, "SIGCONT");
      };
      const faults: (() => Promise<void>)[] = [
        async () => {
          proxy.cut();
          await pause(random.between(0, 1500));
          proxy.open();
        },
        async () => {
          proxy.hold();
          await pause(random.between(100, 1500));
          proxy.release();
        },
        async () => {
          proxy.hold();
          await pause(random.between(0, 300));
          proxy.cut();
          proxy.open();
        },
        () => stopFor(hubPid, random.between(100, 1000)),
        () => stopFor(child.pid ?? 0, random.between(100, 1000)),
        async () => random.pick(seats).follower.drop(),
        async () => {
          far.cut();
          await pause(random.between(0, 1500));
          far.open();
        },
        async () => {
          far.hold();
          await pause(random.between(100, 1500));
          far.release();
        },
        async () => {
          const watcher = stage.home.spawn(["watch", sessionId]);
          // It may end by itself when the hub does not answer.
          const gone = once(watcher, "exit");
          await pause(random.between(200, 1200));
          watcher.kill("SIGSTOP");
          await pause(random.between(100, 800));
          watcher.kill("SIGCONT");
          watcher.kill("SIGKILL");
          await gone;
        },
      ];
      for (let round = 0; round < ROUNDS; round += 1) {
        await pause(random.between(50, 700));
        await random.pick(faults)();
      }
      isOver = true;
      await Promise.all(talks);
      expectOnce(near.home.dir, texts);
      await stage.linked();
      await expectAlike(stage, query, sessionId, editor, seats);
      for (const { follower } of seats) {
        expect(follower.restarts).toBe(0);
        await follower.stop();
      }
      expect((await stage.api("GET", "/api/interactions")).body).toEqual([]);
    },
    40_000 + ROUNDS * 6000,
  );
});
