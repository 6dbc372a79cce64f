/** X8, X12, X13: forms for clients without them, questions for one client, the record. */
import { expect, test } from "vitest";
import { FORM, shared } from "../../support/world/shared.ts";

test("X8 a client without forms gets one popup per field, and its choices are one form answer", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askForm(session, FORM);
  world.settle();
  const [first] = phone.openDialogs;
  expect(first?.params).toMatchObject({
    toolCall: { rawInput: { description: expect.stringContaining("Which one?") } },
    options: [{ name: "red" }, { name: "green" }, { name: "Decline", kind: "reject_once" }],
    _meta: { "acp-hub": { step: { index: 0, of: 2 } } },
  });
  phone.choose("acp-hub:0:1");
  world.settle();
  expect(phone.dialog?.params["options"]).toMatchObject([
    { name: "Yes" },
    { name: "No" },
    { name: "Skip" },
    { name: "Decline" },
  ]);
  phone.choose("acp-hub:1:0");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ action: "accept", content: { color: "green", sure: true } });
  expect(world.primary.openDialogs).toEqual([]);
});

test("X8 a form answer cancels half-answered popups, and partial answers start over with the connection", () => {
  const { world, session, phone } = shared();
  const desk = world.remote({ forms: true, extended: true });
  const id = world.agent.askForm(session, FORM);
  world.settle();
  phone.choose("acp-hub:0:0");
  world.settle();
  world.load(phone, session);
  expect(phone.dialog?.params["_meta"]).toMatchObject({ "acp-hub": { step: { index: 0 } } });
  desk.answer(desk.openDialogs[0] as never, { action: "accept", content: { color: "red" } });
  world.settle();
  expect(phone.openDialogs).toEqual([]);
  expect(world.agent.answerTo(id)).toEqual({ action: "accept", content: { color: "red" } });
});

test("X8 a backend's recipe is followed, and its own form content goes back", () => {
  const { world, session, phone } = shared();
  const recipe = [
    {
      title: "Ship it?",
      options: [
        { optionId: "y", name: "Yes", kind: "allow_once", set: { answer: "yes" } },
        { optionId: "n", name: "No", kind: "reject_once", action: "decline" },
      ],
    },
  ];
  const ask = (): unknown =>
    world.agent.ask("elicitation/create", {
      sessionId: session,
      mode: "form",
      message: "m",
      requestedSchema: { type: "object" },
      _meta: { "acp-hub": { downgrade: recipe } },
    });
  const yes = ask();
  world.settle();
  expect(phone.dialog?.params["toolCall"]).toMatchObject({ title: "Ship it?" });
  expect(JSON.stringify(phone.raw)).not.toContain("downgrade");
  phone.choose("y");
  const no = ask();
  world.settle();
  phone.choose("n");
  world.settle();
  expect(world.agent.answerTo(yes as never)).toEqual({ action: "accept", content: { answer: "yes" } });
  expect(world.agent.answerTo(no as never)).toEqual({ action: "decline" });
});

test("R2 X8 an editor with forms gets the form under its id, without the recipe that is ours to follow", () => {
  const { world, session } = shared({}, { elicitation: { form: {} } });
  world.agent.askForm(session, FORM, { _meta: { mine: 1, "acp-hub": { downgrade: [{ title: "?", options: [] }] } } });
  world.settle();
  const [dialog] = world.primary.openDialogs;
  expect(dialog?.params["_meta"]).toEqual({
    mine: 1,
    "acp-hub": { interactionId: expect.any(String), openedAt: world.now },
  });
});

test("X8 a form no buttons can answer can still be declined, so that nobody is stuck", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askForm(session, { properties: { why: { type: "string" } }, required: ["why"] });
  world.settle();
  expect(phone.dialog?.params["options"]).toMatchObject([{ name: "Decline" }]);
  phone.choose("acp-hub:decline");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ action: "decline" });
});

test("X12 a question scoped by a request goes to the client whose request it names, under that client's own id", () => {
  const { world, phone } = shared();
  const desk = world.remote({ forms: true, extended: true, scopes: ["admin", "sessions:read", "interactions:answer"] });
  world.agent.hold("authenticate");
  const mine = desk.request("authenticate", { methodId: "m" }, "my own id");
  world.settle();
  const [call] = world.agent.pending;
  const id = world.agent.ask("elicitation/create", {
    requestId: call?.id ?? null,
    mode: "form",
    message: "code?",
    requestedSchema: {},
  });
  world.settle();
  expect(desk.dialog?.params["requestId"]).toBe(mine);
  expect(phone.openDialogs).toEqual([]);
  expect(world.primary.openDialogs).toEqual([]);
  world.disconnect(desk);
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ action: "cancel" });
});

test.each(["cannot show it", "is cut off", "was never there"])(
  "X12 the one client it is for %s: the agent gets a cancel",
  (how) => {
    const { world } = shared();
    const client = world.remote({
      forms: how !== "cannot show it",
      extended: true,
      scopes: ["admin", "sessions:read", "interactions:answer"],
    });
    world.agent.hold("authenticate");
    client.request("authenticate", { methodId: "m" });
    world.settle();
    if (how === "is cut off") world.cut();
    const requestId = how === "was never there" ? 4711 : (world.agent.pending[0]?.id ?? null);
    const id = world.agent.ask("elicitation/create", { requestId, mode: "form", message: "?", requestedSchema: {} });
    world.settle();
    expect(world.agent.answerTo(id)).toEqual({ action: "cancel" });
  },
);

test("X13 every settling is told to the record once: what, who and when, never free text", () => {
  const { world, session, phone } = shared();
  const desk = world.remote({ forms: true, extended: true, name: "desk" });
  world.agent.askPermission(session);
  world.settle();
  phone.choose("allow");
  world.settle();
  const properties = { why: { type: "string" }, color: { type: "string", enum: ["red"] }, sure: { type: "boolean" } };
  world.agent.askForm(session, { properties });
  world.settle();
  desk.answer(desk.openDialogs[0] as never, {
    action: "accept",
    content: { why: "secret words", color: "red", sure: true },
  });
  world.settle().cut();
  world.dial().settle();
  const records = world.mirrorObserved.filter((each) => each.kind === "settled");
  expect(records).toMatchObject([
    {
      notice: {
        outcome: { action: "answered", optionId: "allow", optionName: "Allow" },
        by: { name: "phone" },
        at: world.now,
      },
    },
    {
      notice: {
        outcome: {
          action: "answered",
          elicitation: "accept",
          content: { why: { length: 12 }, color: "red", sure: true },
        },
        by: { name: "desk", device: desk.connection.device },
      },
    },
  ]);
  expect(JSON.stringify(records)).not.toContain("secret");
});
