import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { arrayAt, isObject, objectAt } from "../../src/protocol/json.ts";
import { says } from "../support/fake-model/script.ts";
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

const WITH_FORMS = AGENTS.filter((agent) => agent.row.form !== undefined);

it.for(WITH_FORMS)(
  "$name: I3 X8 its form is shown to one client and asked in popups of the others, in one race",
  (agent) =>
    onStage(agent, async (stage) => {
      const { editor, model, tap } = stage;
      const a = await stage.phone("a");
      const forms = await stage.stranger("forms");
      await forms.initialize({ elicitation: { form: {} }, _meta: { "acp-hub": {} } });
      if (agent.row.form !== undefined) model.reply(agent.row.form("Which colour?", ["Red", "Blue"]));
      model.reply(says("As you like."));

      const turn = stage.prompt(editor, "ask me");
      const form = await forms.nextRequest("elicitation/create");
      const own = await editor.nextRequest("session/request_permission");
      const popup = await a.nextRequest("session/request_permission");
      expect(JSON.stringify(popup.params)).toContain("Which colour?");
      const options = arrayAt(popup.params, "options") ?? [];
      const blue = options.find((option) => isObject(option) && option["name"] === "Blue");
      a.answer(popup.id, selected(String(isObject(blue) && blue["optionId"])));

      expect((await turn)["stopReason"]).toBe("end_turn");
      const [ask] = tap.asked("elicitation/create");
      const answers = tap.answersTo(ask?.id ?? null);
      expect(answers).toMatchObject([{ result: { action: "accept" } }]);
      expect(Object.values(objectAt(objectAt(answers[0], "result"), "content") ?? {})).toEqual(["Blue"]);
      await expect.poll(() => cancelledIds(forms)).toEqual([form.id]);
      expect(cancelledIds(editor)).toEqual([own.id]);
      // What the model reads next is the choice.
      expect(JSON.stringify(model.turns.at(-1)?.body)).toContain("Blue");
    }),
);
