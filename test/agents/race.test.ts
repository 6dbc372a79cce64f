import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stringAt } from "../../src/protocol/json.ts";
import type { RawClient } from "../support/raw-client.ts";
import { AGENTS } from "./support/agents.ts";
import { cancelledIds, openDialogs, optionOf, selected, transcriptOf } from "./support/clients.ts";
import { askFirst, onStage, scriptTouch } from "./support/stage.ts";

it.for(AGENTS)(
  "$name: X2 X4 X11 one client rejects, another allows just after: the agent gets the one answer",
  (agent) =>
    onStage(agent, async (stage) => {
      const { editor, place, sessionId, tap } = stage;
      const a = await stage.phone("a");
      const b = await stage.phone("b");
      await askFirst(stage);
      scriptTouch(stage, "made.txt", "After the refusal.");

      const turn = stage.prompt(editor, "make a file");
      const own = await editor.nextRequest("session/request_permission");
      const first = await a.nextRequest("session/request_permission");
      const second = await b.nextRequest("session/request_permission");
      a.answer(first.id, selected(optionOf(first, "reject_once")));
      // A round trip of the first: what it said has arrived, before the other says anything on its own socket.
      await a.call("session/list", {});
      b.answer(second.id, selected(optionOf(second, "allow_once")));

      expect(["end_turn", "cancelled"]).toContain((await turn)["stopReason"]);
      expect(existsSync(join(place.cwd, "made.txt"))).toBe(false);
      const [ask, ...more] = tap.asked("session/request_permission");
      expect(more).toEqual([]);
      expect(tap.answersTo(ask?.id ?? null)).toMatchObject([{ result: selected(optionOf(first, "reject_once")) }]);
      await expect.poll(() => cancelledIds(b)).toEqual([second.id]);
      expect(cancelledIds(editor)).toEqual([own.id]);
      expect(cancelledIds(a)).toEqual([]);
      // Cards of refused tools are closed, by us where the agent says no more of them (X11).
      for (const client of [editor, a, b]) await expect.poll(() => cardsOf(client, sessionId)).toEqual(["failed"]);
      for (const client of [a, b]) {
        const settled = await client.nextNotification("_acp-hub/interaction_settled");
        expect(settled).toMatchObject({ outcome: { optionId: optionOf(first, "reject_once") }, by: { name: "a" } });
      }
    }),
);

it.for(AGENTS)("$name: X3 a client that answers with an error leaves the race open for the others", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, place, tap } = stage;
    const a = await stage.phone("a");
    const b = await stage.phone("b");
    const c = await stage.phone("c");
    await askFirst(stage);
    scriptTouch(stage, "made.txt", "Done.");

    const turn = stage.prompt(editor, "make a file");
    const own = await editor.nextRequest("session/request_permission");
    a.refuse((await a.nextRequest("session/request_permission")).id, -32601);
    c.refuse((await c.nextRequest("session/request_permission")).id, -32800);
    const asked = await b.nextRequest("session/request_permission");
    // A round trip of each that refused: what they said has arrived.
    for (const client of [a, c]) await client.call("session/list", {});
    editor.refuse(own.id, -32603);
    // Not every agent has a list: any answer will do.
    await editor.call("session/list", {}).catch(() => undefined);
    await b.call("session/list", {});
    expect(openDialogs(b)).toEqual([asked.id]);
    expect(tap.answersTo(tap.asked("session/request_permission")[0]?.id ?? null)).toEqual([]);
    b.answer(asked.id, selected(optionOf(asked, "allow_once")));

    expect(stringAt(await turn, "stopReason")).toBe("end_turn");
    expect(existsSync(join(place.cwd, "made.txt"))).toBe(true);
    expect(tap.answersTo(tap.asked("session/request_permission")[0]?.id ?? null).length).toBe(1);
  }),
);

const cardsOf = (client: RawClient, sessionId: string): string[] =>
  transcriptOf(client, sessionId).flatMap((line) => (line.kind === "tool" ? [line.text] : []));
