import { expect, it } from "vitest";
import { gate, says } from "../support/fake-model/script.ts";
import { RpcFailed } from "../support/raw-client.ts";
import { AGENTS } from "./support/agents.ts";
import { openDialogs } from "./support/clients.ts";
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
    await expect.poll(() => stage.harness.hub.registry.list().length).toBe(0);
  }),
);

it.for(AGENTS)("$name: L1 T3 the editor closes its pipe in mid-turn: no process of the agent is left", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, model, place } = stage;
    const a = await stage.phone("a");
    model.reply(says("One "), gate());
    const prompt = stage.prompt(editor, "count").catch(() => undefined);
    await expect.poll(() => editor.textOf("agent_message_chunk")).toContain("One ");
    const pid = stage.agentPid();
    expect(processesOf(place)).toContain(pid);
    expect(livingGroup(pid)).toContain(pid);

    editor.close();
    expect(await stage.ended).toBe(0);
    expect(livingGroup(pid)).toEqual([]);
    await expect.poll(() => processesOf(place)).toEqual([]);
    await prompt;
    await expect.poll(() => a.closed !== undefined || a.notifications("_acp-hub/detached").length > 0).toBe(true);
  }),
);
