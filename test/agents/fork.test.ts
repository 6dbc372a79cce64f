import { expect, it } from "vitest";
import { stringAt } from "../../src/protocol/json.ts";
import { says } from "../support/fake-model/script.ts";
import { AGENTS } from "./support/agents.ts";
import { isHistory, updatesOf } from "./support/clients.ts";
import { onStage } from "./support/stage.ts";

it.for(AGENTS)("$name: B2 S6 a fork's replay reaches only its caller, and the fork goes on by itself", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, model, place, sessionId } = stage;
    const a = await stage.phone("a");
    const b = await stage.phone("b");
    model.reply(says("Root answer."));
    await stage.prompt(editor, "root question");

    const forking = a.call("session/fork", { sessionId, cwd: place.cwd, mcpServers: [] });
    if (!agent.row.canFork) return expect(forking).rejects.toMatchObject({ code: -32601 });
    const forkId = stringAt(await forking, "sessionId") ?? "";
    expect(forkId).not.toBe(sessionId);
    const replayed = updatesOf(a, forkId).filter(isHistory);
    if (agent.row.replaysForks) expect(JSON.stringify(replayed)).toContain("Root answer.");
    else expect(replayed).toEqual([]);

    model.reply(says("Fork answer."));
    const end = await a.call("session/prompt", {
      sessionId: forkId,
      prompt: [{ type: "text", text: "fork question" }],
    });
    expect(end["stopReason"]).toBe("end_turn");
    await expect.poll(() => JSON.stringify(updatesOf(a, forkId))).toContain("Fork answer.");
    // The editor has every session of its instance (B1), but not this one's history.
    await expect.poll(() => JSON.stringify(updatesOf(editor, forkId))).toContain("Fork answer.");
    expect(JSON.stringify(updatesOf(editor, forkId))).not.toContain("Root answer.");
    await b.call("session/list", {});
    expect(updatesOf(b, forkId)).toEqual([]);
    expect(JSON.stringify(updatesOf(a, sessionId))).not.toContain("Fork answer.");
    return undefined;
  }),
);
