import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dice, pause, roundsOr, story, transcriptOf } from "../support/chaos.ts";
import { loadOf, processesOf, Stage, textPrompt, until } from "../support/stage.ts";

const ROUNDS = roundsOr(5);

describe("bridges killed at random moments", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = new Stage();
    await stage.serve();
  });
  afterEach(() => stage.end());

  it(
    `L3 T3 ${ROUNDS} kills: gone at once, questions ended, history holds what the phone saw, no agent is left`,
    async () => {
      const random = dice("bridge killed");
      for (let round = 0; round < ROUNDS; round += 1) {
        const script = { ...story(stage.home.dir), sessionIds: [`round-${round}`] };
        const { editor, child, sessionId } = await stage.share(script);
        const id = (await stage.linked())[0]?.id;
        const phone = await stage.client("driver", `?instance=${id}`);
        await phone.call("session/load", loadOf(sessionId));
        editor.call("session/prompt", textPrompt(sessionId, "go")).catch(() => undefined);
        await pause(random.between(0, 600));
        child.kill("SIGKILL");
        await expect.poll(() => phone.closed?.code, { timeout: 10_000, interval: 10 }).toBe(4404);
        expect(await stage.instances()).toEqual([]);
        expect((await stage.api("GET", "/api/interactions")).body).toEqual([]);
        const asked = phone.frames.filter((frame) => frame.kind === "request").length;
        const settled = phone.notifications("_acp-hub/interaction_settled").length;
        expect(settled).toBe(asked);
        const wide = await stage.client("viewer");
        await wide.call("session/load", loadOf(sessionId));
        const [kept, seen, spoken] = [wide, phone, editor].map((client) => transcriptOf(client, true).text);
        expect(kept).toBe(seen);
        // What was in the bridge when it died may be missing; nothing in between is.
        expect((spoken ?? "").startsWith(kept ?? "?") || (kept ?? "").startsWith(spoken ?? "?")).toBe(true);
        wide.close();
      }
      const agents = (): number =>
        processesOf(stage.home.dir).filter(({ command }) => command.includes("scripted-agent")).length;
      expect(await until(() => agents() === 0, 3000)).toBe(true);
    },
    30_000 + ROUNDS * 5000,
  );
});
