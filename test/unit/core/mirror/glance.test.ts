/** What a list shows of a live session at a glance, in the mirror. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/protocol/json.ts";
import { World, type WorldOptions } from "../../../support/world/world.ts";

function shared(options: WorldOptions = {}) {
  const world = new World(options).start();
  const id = world.newSession();
  const phone = world.remote({ extended: true, name: "phone" });
  world.load(phone, id);
  const session = () => {
    const found = world.mirror.session(id);
    if (found === undefined) throw new Error("the mirror lost the session");
    return found;
  };
  const tool = (toolCallId: string, more: JsonObject = {}): void =>
    world.agent.update(id, { sessionUpdate: "tool_call", toolCallId, title: `Run ${toolCallId}`, ...more });
  const line = (): string | undefined => {
    world.settle();
    const found = session().lastLine;
    return found === undefined ? undefined : `${found.from}: ${found.text}`;
  };
  return { world, id, phone, session, tool, line };
}

test("the last line follows who spoke last: the person, the agent, a tool; thoughts are none", () => {
  const { world, id, phone, tool, line } = shared();
  expect(line()).toBeUndefined();
  world.prompt(phone, id, "what is\nleft to do?");
  expect(line()).toBe("user: left to do?");
  world.agent.update(id, { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "secret" } });
  expect(line()).toBe("user: left to do?");
  world.agent.say(id, "I look", "m1");
  world.agent.say(id, " around", "m1");
  expect(line()).toBe("agent: I look around");
  tool("t1");
  expect(line()).toBe("tool: Run t1");
  world.agent.update(id, { sessionUpdate: "tool_call_update", toolCallId: "t1", title: "Run t1 again" });
  expect(line()).toBe("tool: Run t1 again");
  world.agent.say(id, "Done.", "m2");
  expect(line()).toBe("agent: Done.");
});

test("a tool that ends late, or has no title, takes the place of nothing", () => {
  const { world, id, tool, line } = shared();
  tool("t1");
  world.agent.say(id, "All is well.");
  world.agent.update(id, { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed", title: "Ran" });
  expect(line()).toBe("agent: All is well.");
  world.agent.update(id, { sessionUpdate: "tool_call_update", toolCallId: "t9", status: "completed" });
  expect(line()).toBe("agent: All is well.");
});

test("the turn stands since the event that changed it, not since those that only tell of the queue", () => {
  const { world, id, phone, session } = shared();
  const other = world.remote({ extended: true, name: "other" });
  expect(session().turnSince).toBeUndefined();
  world.advance(60_000);
  world.prompt(phone, id, "go");
  const begun = world.now;
  world.advance(60_000);
  world.prompt(other, id, "next");
  expect([session().info.turn, session().turnSince]).toEqual(["running", begun]);
  world.agent.askPermission(id);
  world.settle();
  expect([session().info.turn, session().turnSince]).toEqual(["waiting", begun + 60_000]);
});

test("L2 a hub that starts anew knows both again from what the bridge sends it", () => {
  const { world, id, phone, session, line } = shared();
  world.prompt(phone, id, "go");
  const begun = world.now;
  world.advance(60_000);
  world.agent.say(id, "Half ", "m1");
  world.agent.say(id, "way there", "m1");
  world.settle();
  world.restartHub();
  world.dial().settle();
  expect(line()).toBe("agent: Half way there");
  expect([session().info.turn, session().turnSince]).toEqual(["running", begun]);
});

test("S1 a session that was loaded anew shows the last line of its replay, and until then the one before", () => {
  const { world, id, line } = shared();
  world.agent.say(id, "Before.");
  expect(line()).toBe("agent: Before.");
  world.agent.histories.set(id, [
    { sessionUpdate: "user_message_chunk", content: { type: "text", text: "hi" } },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Replayed." } },
  ]);
  world.load(world.primary, id);
  expect(["agent: Before.", "agent: Replayed."]).toContain(line());
});

test("what was shown stays while the journal is too small to hold it", () => {
  const { world, id, line } = shared({ root: { journalBytes: 3000 }, mirror: { journalBytes: 3000 } });
  world.agent.say(id, "The one line.", "m1");
  expect(line()).toBe("agent: The one line.");
  for (let at = 0; at < 60; at += 1) world.agent.update(id, { sessionUpdate: `odd_${at}`, data: "x".repeat(200) });
  expect(line()).toBe("agent: The one line.");
  world.agent.say(id, "Another.", "m2");
  expect(line()).toBe("agent: Another.");
});
