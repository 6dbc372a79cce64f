/** X5 `interactions.timeoutMs`: nothing decides for a person, unless somebody has configured how long a question may wait. */
import { expect, test } from "vitest";
import { World, type WorldOptions } from "../../support/world/world.ts";

const LIMITS = { agentLineBytes: 1_000_000, lanePromptsMax: 4 };

function shared(options: WorldOptions = { hubLimits: { ...LIMITS, interactionTimeoutMs: 60_000 } }) {
  const world = new World(options).start({ elicitation: { form: {} } });
  const session = world.newSession();
  const phone = world.remote({ extended: true, forms: true, name: "phone" });
  world.load(phone, session);
  return { world, session, phone };
}

const answerOf = (world: World, id: Parameters<World["agent"]["answerTo"]>[0]) => world.agent.answerTo(id);

test("X5 with nothing configured a question waits for ever", () => {
  const { world, session, phone } = shared({});
  world.agent.askPermission(session);
  world.advance(30 * 86_400_000);
  expect([phone.openDialogs.length, world.primary.openDialogs.length]).toEqual([1, 1]);
});

test("X5 one that nobody answers in the configured time is refused this once, and its dialogs close everywhere", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.advance(59_999);
  expect(phone.openDialogs).toHaveLength(1);
  world.advance(1);
  expect(answerOf(world, id)).toEqual({ outcome: { outcome: "selected", optionId: "reject" } });
  expect([phone.openDialogs.length, world.primary.openDialogs.length]).toEqual([0, 0]);
  expect(phone.of("_acp-hub/interaction_settled")[0]?.params).toMatchObject({
    outcome: { action: "answered", optionId: "reject", optionKind: "reject_once" },
    by: { name: "acp-hub" },
  });
  expect(world.problems).toEqual([]);
});

test("X5 without a refusal to choose, and for a form, it ends cancelled and never with a yes", () => {
  const { world, session } = shared();
  const options = [
    { optionId: "a", name: "Allow", kind: "allow_once" },
    { optionId: "never", name: "Never", kind: "reject_always" },
  ];
  const toolCall = { toolCallId: "t", title: "Run" };
  const permission = world.agent.ask("session/request_permission", { sessionId: session, toolCall, options });
  const form = world.agent.askForm(session, { type: "object", properties: { a: { type: "string" } } });
  world.advance(60_000);
  expect(answerOf(world, permission)).toEqual({ outcome: { outcome: "cancelled" } });
  expect(answerOf(world, form)).toEqual({ action: "cancel" });
  expect(world.problems).toEqual([]);
});

test("X5 one answered in time is not ended again, and the time counts from the question, over new links too", () => {
  const { world, session, phone } = shared();
  const first = world.agent.askPermission(session, "first");
  world.settle();
  phone.choose("allow");
  world.settle();
  const second = world.agent.askPermission(session, "second");
  world.advance(40_000);
  world.cut();
  world.dial();
  world.advance(19_000);
  expect(answerOf(world, second)).toBeUndefined();
  world.advance(1000);
  expect(answerOf(world, first)).toEqual({ outcome: { outcome: "selected", optionId: "allow" } });
  expect(answerOf(world, second)).toEqual({ outcome: { outcome: "selected", optionId: "reject" } });
});
