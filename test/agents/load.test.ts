import { expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { gate, says } from "../support/fake-model/script.ts";
import { AGENTS } from "./support/agents.ts";
import {
  askedIds,
  cancelledIds,
  isHistory,
  openDialogs,
  optionOf,
  selected,
  transcriptOf,
  updatesOf,
} from "./support/clients.ts";
import { isKept } from "./support/place.ts";
import { askFirst, loadSession, onStage, scriptTouch } from "./support/stage.ts";

it.for(AGENTS)("$name: B2 X6 a load of the live session replays to its loader alone, then asks what is open", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, model, place, sessionId, tap } = stage;
    const a = await stage.phone("a");
    model.reply(says("First answer."));
    await stage.prompt(editor, "first question");
    await askFirst(stage);
    scriptTouch(stage, "made.txt", "Done.");
    const turn = stage.prompt(editor, "make a file");
    const ask = await a.nextRequest("session/request_permission");
    await editor.nextRequest("session/request_permission");

    const shown = (): JsonObject[][] => [editor, a].map((client) => updatesOf(client, sessionId).filter(isHistory));
    const before = shown();
    const loads = tap.sentCount("session/load");
    const c = await stage.stranger("c");
    const cleared = c.frames.length;
    expect(await loadSession(c, place, sessionId)).toMatchObject({
      _meta: { "acp-hub": { verdict: "ok", openInteractions: 1, turn: { state: "waiting" } } },
    });
    // At the response all history is there, and nothing has been asked after it was.
    expect(c.textOf("user_message_chunk")).toBe("first questionmake a file");
    expect(c.textOf("agent_message_chunk")).toContain("First answer.");
    expect(tap.sentCount("session/load")).toBe(loads);
    // It was asked when it came in, and once more behind the history; one dialog is open.
    await expect.poll(() => askedIds(c).length).toBe(2);
    const [first, again] = askedIds(c);
    expect(openDialogs(c)).toEqual([again]);
    expect(cancelledIds(c)).toEqual([first]);
    const response = c.frames.findIndex((frame) => frame.kind === "response" && frame.msg.id === 2);
    const request = c.frames.findIndex((frame) => frame.kind === "request" && frame.msg.id === again);
    expect(response).toBeGreaterThan(0);
    expect(request).toBeGreaterThan(response);
    expect(shown()).toEqual(before);

    c.answer(again ?? null, selected(optionOf(ask, "allow_once")));
    expect((await turn)["stopReason"]).toBe("end_turn");
    await expect.poll(() => c.textOf("agent_message_chunk")).toContain("Done.");
    await expect.poll(() => transcriptOf(c, sessionId, cleared)).toEqual(transcriptOf(editor, sessionId));
    await expect.poll(() => transcriptOf(a, sessionId)).toEqual(transcriptOf(editor, sessionId));
  }),
);

it.for(AGENTS)("$name: B2 S4 who joins in mid-stream ends with the transcript the editor has", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, model, sessionId } = stage;
    await askFirst(stage);
    const held = gate();
    model.reply(stage.row.shell("touch made.txt"));
    model.reply(says("One "), says("two "), held, says("three "), says("four."));

    const turn = stage.prompt(editor, "make a file and count");
    const ask = await editor.nextRequest("session/request_permission");
    editor.answer(ask.id, selected(optionOf(ask, "allow_once")));
    await expect.poll(() => editor.textOf("agent_message_chunk")).toContain("One ");
    const late = await stage.phone("late");
    await expect.poll(() => late.textOf("agent_message_chunk")).toContain("One ");
    held.open();
    expect((await turn)["stopReason"]).toBe("end_turn");
    await expect.poll(() => late.textOf("agent_message_chunk")).toContain("One two three four.");
    expect(transcriptOf(late, sessionId)).toEqual(transcriptOf(editor, sessionId));
    const fresh = await stage.phone("fresh");
    expect(transcriptOf(fresh, sessionId)).toEqual(transcriptOf(editor, sessionId));
  }),
);

it.for(AGENTS)("$name: S1 B2 a session of an earlier run is loaded once for two clients, and goes on", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, model, place, sessionId } = stage;
    model.reply(says("First answer."));
    await stage.prompt(editor, "first question");
    const { folder, as } = agent.row.keeps;
    await expect.poll(() => isKept(place, folder, as("First answer."))).toBe(true);
    editor.close();
    await stage.ended;
    agent.row.age?.(place);

    const run = await stage.again();
    const a = await run.stranger("a");
    const b = await run.stranger("b");
    const [loaded] = await Promise.all([a, b].map((client) => loadSession(client, place, sessionId)));
    expect(run.tap.sentCount("session/load")).toBe(1);
    if (agent.row.repliesBeforeReplay) await expect.poll(() => a.textOf("agent_message_chunk")).not.toBe("");
    for (const client of [a, b]) {
      await expect.poll(() => client.textOf("agent_message_chunk").split("First answer.").length).toBe(2);
      expect(client.textOf("user_message_chunk").split("first question").length).toBe(2);
    }
    await expect.poll(() => transcriptOf(a, sessionId)).toEqual(transcriptOf(b, sessionId));
    expect(loaded).toMatchObject({ _meta: { "acp-hub": { verdict: "ok", turn: { state: "idle" } } } });
    if (!agent.row.repliesBeforeReplay) expect(run.editor.textOf("agent_message_chunk")).toBe("");

    model.reply(says("Second answer."));
    const end = await a.call("session/prompt", { sessionId, prompt: [{ type: "text", text: "second question" }] });
    expect(end["stopReason"]).toBe("end_turn");
    await expect.poll(() => b.textOf("agent_message_chunk")).toContain("Second answer.");
    await expect.poll(() => run.editor.textOf("agent_message_chunk")).toContain("Second answer.");
    await loadSession(run.editor, place, sessionId);
    expect(run.tap.sentCount("session/load")).toBe(1);
    expect(run.editor.textOf("agent_message_chunk")).toContain("First answer.");
  }),
);

it.for(AGENTS)("$name: S1 a session of an earlier run is resumed without replay, and goes on", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, model, place, sessionId } = stage;
    model.reply(says("First answer."));
    await stage.prompt(editor, "first question");
    const { folder, as } = agent.row.keeps;
    await expect.poll(() => isKept(place, folder, as("First answer."))).toBe(true);
    editor.close();
    await stage.ended;
    agent.row.age?.(place);

    const run = await stage.again();
    const a = await run.stranger("a");
    await a.call("session/resume", { sessionId, cwd: place.cwd, mcpServers: [] });
    model.reply(says("Second answer."));
    const end = await a.call("session/prompt", { sessionId, prompt: [{ type: "text", text: "second question" }] });
    expect(end["stopReason"]).toBe("end_turn");
    await expect.poll(() => a.textOf("agent_message_chunk")).toContain("Second answer.");
    await expect.poll(() => run.editor.textOf("agent_message_chunk")).toContain("Second answer.");
    if (!agent.row.repliesBeforeReplay) expect(a.textOf("agent_message_chunk")).not.toContain("First answer.");
    // The agent has it all the same.
    expect(JSON.stringify(model.turns.at(-1)?.body)).toContain("First answer.");
  }),
);
