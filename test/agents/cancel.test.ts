import { existsSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { says } from "../support/fake-model/script.ts";
import { AGENTS } from "./support/agents.ts";
import { openDialogs } from "./support/clients.ts";
import { askFirst, onStage, scriptTouch } from "./support/stage.ts";

/** On a machine that is busy with other things, a second takes longer. */
const aSecond = (): number => 1000 * Math.max(1, (loadavg()[0] ?? 0) / cpus().length);

it.for(AGENTS)("$name: X7 a remote cancels while a permission is open that nobody answers: the turn ends", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, model, place, sessionId, tap } = stage;
    const a = await stage.phone("a");
    const b = await stage.phone("b");
    await askFirst(stage);
    scriptTouch(stage, "made.txt", "Not reached.");

    const turn = stage.prompt(editor, "make a file");
    for (const client of [editor, a, b]) await client.nextRequest("session/request_permission");
    const start = performance.now();
    b.notify("session/cancel", { sessionId });
    expect((await turn)["stopReason"]).toBe("cancelled");
    expect(performance.now() - start).toBeLessThan(aSecond());

    for (const client of [editor, a, b]) await expect.poll(() => openDialogs(client)).toEqual([]);
    const [ask] = tap.asked("session/request_permission");
    expect(tap.answersTo(ask?.id ?? null).length).toBe(1);
    expect(tap.sentCount("session/cancel")).toBe(1);
    expect(existsSync(join(place.cwd, "made.txt"))).toBe(false);

    // The session is as good as before: the next prompt of another client runs.
    if (model.script.left > 0) model.script.take();
    model.reply(says("Still here."));
    expect((await stage.prompt(a, "still there?"))["stopReason"]).toBe("end_turn");
    await expect.poll(() => b.textOf("agent_message_chunk")).toContain("Still here.");
  }),
);
