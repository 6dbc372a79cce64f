import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { RpcFailed } from "../support/raw-client.ts";
import { AGENTS } from "./support/agents.ts";
import { openDialogs, optionOf, selected } from "./support/clients.ts";
import { livingGroup, processesOf } from "./support/place.ts";
import { askFirst, onStage, scriptTouch } from "./support/stage.ts";

it.for(AGENTS)("$name: S8 the agent is killed under an open permission: everything that waits is answered", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, place } = stage;
    const a = await stage.phone("a");
    const b = await stage.phone("b");
    await askFirst(stage);
    scriptTouch(stage, "made.txt", "Not reached.");
    const running = stage.prompt(a, "make a file").catch((error: unknown) => error);
    for (const client of [editor, a, b]) await client.nextRequest("session/request_permission");
    const waiting = stage.prompt(editor, "and then").catch((error: unknown) => error);
    await expect
      .poll(() => a.notifications("_acp-hub/turn").some((turn) => JSON.stringify(turn["queue"]) !== "[]"))
      .toBe(true);

    process.kill(stage.agentPid(), "SIGKILL");
    for (const answered of [running, waiting]) {
      const error = await answered;
      expect(error).toBeInstanceOf(RpcFailed);
      expect(error).toMatchObject({ code: -32603, message: expect.stringContaining("SIGKILL") });
    }
    for (const client of [editor, a, b]) await expect.poll(() => openDialogs(client)).toEqual([]);
    expect(await stage.ended).toBe(1);
    expect(livingGroup(stage.agentPid())).toEqual([]);
    await expect.poll(() => processesOf(place)).toEqual([]);
  }),
);

it.for(AGENTS)(
  "$name: L1 T3 the editor closes its pipe while a tool runs: no process of agent or tool is left",
  (agent) =>
    onStage(agent, async (stage) => {
      const { editor, model, place } = stage;
      const a = await stage.phone("a");
      await askFirst(stage);
      model.reply(agent.row.shell("touch begun.txt && sleep 297"));
      const prompt = stage.prompt(editor, "make a file and wait").catch(() => undefined);
      const asked = await a.nextRequest("session/request_permission");
      a.answer(asked.id, selected(optionOf(asked, "allow_once")));
      await expect.poll(() => existsSync(join(place.cwd, "begun.txt"))).toBe(true);
      const pid = stage.agentPid();
      expect(livingGroup(pid)).toContain(pid);
      // Every one of them gives its tools a group of their own: only the agent itself can end them.
      await expect.poll(() => processesOf(place).length).toBeGreaterThan(livingGroup(pid).length);

      editor.close();
      expect(await stage.ended).toBe(0);
      expect(livingGroup(pid)).toEqual([]);
      await expect.poll(() => processesOf(place)).toEqual([]);
      await prompt;
    }),
);
