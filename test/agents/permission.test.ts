import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { AGENTS } from "./support/agents.ts";
import { cancelledIds, openDialogs, optionOf, selected, transcriptOf } from "./support/clients.ts";
import { askFirst, onStage, scriptTouch } from "./support/stage.ts";

it.for(AGENTS)(
  "$name: X1 X2 a permission is answered by a remote client: the tool runs, every other dialog closes",
  (agent) =>
    onStage(agent, async (stage) => {
      const { editor, place, sessionId, tap } = stage;
      const a = await stage.phone("a");
      const b = await stage.phone("b");
      await askFirst(stage);
      scriptTouch(stage, "made.txt", "Done.");

      const turn = stage.prompt(editor, "make a file");
      const own = await editor.nextRequest("session/request_permission");
      const asked = await a.nextRequest("session/request_permission");
      const other = await b.nextRequest("session/request_permission");
      expect(existsSync(join(place.cwd, "made.txt"))).toBe(false);
      a.answer(asked.id, selected(optionOf(asked, "allow_once")));

      expect((await turn)["stopReason"]).toBe("end_turn");
      expect(existsSync(join(place.cwd, "made.txt"))).toBe(true);
      expect(cancelledIds(editor)).toEqual([own.id]);
      await expect.poll(() => cancelledIds(b)).toEqual([other.id]);
      expect(cancelledIds(a)).toEqual([]);
      expect([openDialogs(editor), openDialogs(b)]).toEqual([[], []]);
      const [ask] = tap.asked("session/request_permission");
      expect(tap.answersTo(ask?.id ?? null)).toMatchObject([{ result: selected(optionOf(asked, "allow_once")) }]);
      for (const client of [editor, a, b]) {
        await expect.poll(() => client.textOf("agent_message_chunk")).toContain("Done.");
        const card = transcriptOf(client, sessionId).find((line) => line.kind === "tool");
        expect(card?.text).toBe("completed");
      }
    }),
);
