/** S5, S6: the mode of a session, wherever an agent keeps it: in `modes`, in an option called mode, or in both. */
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/protocol/json.ts";
import { World } from "../../support/world/world.ts";

const modesAt = (currentModeId: string): JsonObject => ({
  currentModeId,
  availableModes: [
    { id: "ask", name: "Ask" },
    { id: "code", name: "Code" },
  ],
});

const optionsAt = (currentValue: string): Json[] => [
  { id: "model", category: "model", type: "select", currentValue: "m1", options: [{ value: "m1", name: "M" }] },
  {
    id: "mode",
    category: "mode",
    type: "select",
    currentValue,
    options: [{ group: "all", name: "All", options: [{ value: "ask" }, { value: "code" }] }],
  },
];

function shared(state: JsonObject) {
  const world = new World().start();
  world.agent.responders.set("session/new", (request) => world.agent.respond(request, { sessionId: "s", ...state }));
  const session = world.newSession();
  const [setter, other] = ["setter", "other"].map((name) => world.remote({ extended: true, name }));
  if (setter === undefined || other === undefined) throw new Error("no clients");
  for (const client of [setter, other]) world.load(client, session);
  const set = (modeId: string): void => {
    setter.request("session/set_mode", { sessionId: session, modeId });
    world.settle();
  };
  const late = (): JsonObject => world.load(world.remote({ extended: true }), session);
  return { world, session, setter, other, set, late };
}

test("S6 a mode kept only as an option is told as that option, and a late joiner finds it there", () => {
  const { session, setter, other, set, late } = shared({ configOptions: optionsAt("ask") });
  set("code");
  const told = [{ sessionUpdate: "config_option_update", configOptions: optionsAt("code") }];
  expect(other.updates(session)).toEqual(told);
  expect(setter.updates(session)).toEqual([]);
  expect(late()).toMatchObject({ configOptions: optionsAt("code") });
});

test("S6 a mode kept in both places is told once in each, to clients that read only one of them", () => {
  const { session, other, set, late } = shared({ modes: modesAt("ask"), configOptions: optionsAt("ask") });
  set("code");
  expect(other.updates(session)).toEqual([
    { sessionUpdate: "current_mode_update", currentModeId: "code" },
    { sessionUpdate: "config_option_update", configOptions: optionsAt("code") },
  ]);
  expect(late()).toMatchObject({ modes: modesAt("code"), configOptions: optionsAt("code") });
});

test("S5 an agent that tells a new mode in one place only is read in both", () => {
  const { world, session, late } = shared({ modes: modesAt("ask"), configOptions: optionsAt("ask") });
  world.agent.update(session, { sessionUpdate: "config_option_update", configOptions: optionsAt("code") });
  world.settle();
  expect(late()).toMatchObject({ modes: modesAt("code"), configOptions: optionsAt("code") });
  world.agent.update(session, { sessionUpdate: "current_mode_update", currentModeId: "ask" });
  world.settle();
  expect(late()).toMatchObject({ modes: modesAt("ask"), configOptions: optionsAt("ask") });
});

test("S5 a mode that an option does not offer leaves the option as it is, and the reverse", () => {
  const { world, session, late } = shared({ modes: modesAt("ask"), configOptions: optionsAt("ask") });
  world.agent.update(session, { sessionUpdate: "current_mode_update", currentModeId: "yolo" });
  world.settle();
  expect(late()).toMatchObject({ modes: { currentModeId: "yolo" }, configOptions: optionsAt("ask") });
  world.agent.update(session, { sessionUpdate: "config_option_update", configOptions: optionsAt("dream") });
  world.settle();
  expect(late()).toMatchObject({ modes: { currentModeId: "yolo" }, configOptions: optionsAt("dream") });
});

test("S6 a model set by the method agents have given up is set as the option it has become; the editor is told what the agent says", () => {
  const { world, session, setter, other } = shared({ configOptions: optionsAt("ask") });
  const changed = optionsAt("ask").map((option) =>
    (option as JsonObject)["id"] === "model" ? { ...(option as JsonObject), currentValue: "m2" } : option,
  );
  world.agent.responders.set("session/set_model", (request) => world.agent.fail(request, -32601));
  world.agent.responders.set("session/set_config_option", (request) =>
    world.agent.respond(request, { configOptions: changed }),
  );
  const id = setter.request("session/set_model", { sessionId: session, modelId: "m2", _meta: { vendor: 1 } });
  world.settle();
  expect(setter.result(id)).toEqual({});
  expect(world.agent.last("session/set_config_option")?.params).toEqual({
    sessionId: session,
    configId: "model",
    value: "m2",
    _meta: { vendor: 1 },
  });
  expect(other.updates(session)).toEqual([{ sessionUpdate: "config_option_update", configOptions: changed }]);
  const own = world.primary.request("session/set_model", { sessionId: session, modelId: "m2" });
  world.settle();
  expect(world.primary.error(own).code).toBe(-32601);
  expect(world.agent.of("session/set_config_option")).toHaveLength(1);
});
