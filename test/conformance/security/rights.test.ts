/** Rights that shrink while something waits: what nobody has done yet is not done (contract §2). */
import { expect, test } from "vitest";
import { interactionId } from "../../../src/protocol/ids.ts";
import type { Scope } from "../../../src/protocol/scopes.ts";
import { World } from "../../support/world/world.ts";

const NONE: ReadonlySet<Scope> = new Set();
const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });

function shared() {
  const world = new World().start();
  const session = world.newSession();
  const phone = world.remote({ extended: true, name: "phone", device: "d_phone" });
  world.load(phone, session);
  return { world, session, phone };
}

test("C2.reread an answer given while the link was down is not applied once its device is revoked", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  world.cut();
  phone.choose("allow");
  world.settle();
  world.mirror.onRightsLost("d_phone", NONE);
  world.disconnect(phone);
  world.dial().settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
  world.primary.choose("reject");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(selected("reject"));
});

test("C2.reread of two answers that wait the other device's is applied when the first one's is revoked", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote({ extended: true, name: "tablet", device: "d_tablet" });
  world.load(tablet, session);
  const id = world.agent.askPermission(session);
  world.settle();
  world.cut();
  phone.choose("allow");
  world.settle();
  tablet.choose("reject");
  world.settle();
  world.mirror.onRightsLost("d_phone", NONE);
  world.disconnect(phone);
  world.dial().settle();
  expect(world.agent.answerTo(id)).toEqual(selected("reject"));
});

test("C2.reread a waiting prompt of a revoked device never runs, with a name or without", () => {
  const { world, session, phone } = shared();
  world.prompt(world.primary, session, "editor's");
  world.prompt(phone, session, "named", { promptId: "p1" });
  world.prompt(phone, session, "nameless");
  expect(world.agent.of("session/prompt")).toHaveLength(1);
  world.mirror.onRightsLost("d_phone", NONE);
  world.disconnect(phone);
  world.settle();
  world.agent.end(session);
  world.settle();
  expect(world.agent.of("session/prompt")).toHaveLength(1);
  expect(world.problems).toEqual([]);
});

test("C2.reread a waiting prompt of a device that is revoked while the link is down is taken out when it is back", () => {
  const { world, session, phone } = shared();
  world.prompt(world.primary, session, "editor's");
  world.prompt(phone, session, "named", { promptId: "p1" });
  world.cut();
  world.mirror.onRightsLost("d_phone", NONE);
  world.disconnect(phone);
  world.dial().settle();
  world.agent.end(session);
  world.settle();
  expect(world.agent.of("session/prompt")).toHaveLength(1);
});

test("C2.reread who may still prompt keeps its prompts, and who may still answer its answers", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  world.cut();
  phone.choose("allow");
  world.settle();
  world.mirror.onRightsLost("d_phone", new Set<Scope>(["sessions:read", "interactions:answer"]));
  world.mirror.onRightsLost("d_other", NONE);
  world.dial().settle();
  expect(world.agent.answerTo(id)).toEqual(selected("allow"));
});

test("X12 a question that is one client's alone is neither listed to others nor answered by them", () => {
  const { world } = shared();
  const desk = world.remote({ forms: true, extended: true, scopes: ["admin", "sessions:read", "interactions:answer"] });
  world.agent.hold("authenticate");
  desk.request("authenticate", { methodId: "m" });
  world.settle();
  const requestId = world.agent.pending[0]?.id ?? null;
  const id = world.agent.ask("elicitation/create", { requestId, mode: "form", message: "code?", requestedSchema: {} });
  world.settle();
  const meta = desk.dialog?.params["_meta"] as { "acp-hub": { interactionId: string } };
  expect(world.mirror.openInteractions()).toEqual([]);
  const other = { connectionId: "http:d_other", device: "d_other", name: "other" };
  const name = interactionId(meta["acp-hub"].interactionId);
  expect(world.mirror.answer(name, { result: { action: "accept" } }, other, () => undefined)).toBe(false);
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
});
