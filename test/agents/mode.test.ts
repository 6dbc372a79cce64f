import { expect, it } from "vitest";
import { arrayAt, isObject, type JsonObject, objectAt } from "../../src/protocol/json.ts";
import { says } from "../support/fake-model/script.ts";
import { AGENTS } from "./support/agents.ts";
import { updatesOf } from "./support/clients.ts";
import { onStage } from "./support/stage.ts";

/** Updates that tell of a mode, in either form. */
function modesTold(updates: readonly JsonObject[]): JsonObject[] {
  return updates.filter((update) =>
    /^(current_mode_update|config_option_update)$/.test(String(update["sessionUpdate"])),
  );
}

it.for(AGENTS)("$name: S5 S6 a mode set by one client is told to the others once, and to who comes later", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, model, sessionId } = stage;
    const a = await stage.phone("a");
    const b = await stage.phone("b");
    const modeId = agent.row.otherMode;
    const counts = [editor, b].map((client) => modesTold(updatesOf(client, sessionId)).length);

    await a.call("session/set_mode", { sessionId, modeId });
    // A whole turn behind it: whatever the agent or we had to say of the mode has been said.
    model.reply(says("Said."));
    await stage.prompt(a, "say");
    for (const client of [editor, b]) await expect.poll(() => client.textOf("agent_message_chunk")).toContain("Said.");
    for (const [index, client] of [editor, b].entries()) {
      const told = modesTold(updatesOf(client, sessionId)).slice(counts[index]);
      const kinds = told.map((update) => update["sessionUpdate"]);
      expect(kinds.length).toBeGreaterThan(0);
      expect(new Set(kinds).size).toBe(kinds.length);
      for (const update of told) expect(modesIn(update)).toEqual([modeId]);
    }
    expect(modesTold(updatesOf(a, sessionId)).length).toBeLessThanOrEqual(1);

    const late = await stage.stranger("late");
    const loaded = await late.call("session/load", { sessionId, cwd: stage.place.cwd, mcpServers: [] });
    expect(new Set(modesIn(loaded))).toEqual(new Set([modeId]));
  }),
);

/** The current mode, in each of the places where an agent may keep it. */
function modesIn(state: JsonObject): unknown[] {
  const option = (arrayAt(state, "configOptions") ?? []).find((each) => isObject(each) && each["id"] === "mode");
  const places = [
    state["currentModeId"],
    objectAt(state, "modes")?.["currentModeId"],
    isObject(option) && option["currentValue"],
  ];
  return places.filter((mode) => typeof mode === "string");
}
