/** R: what decides, decides in the root; the mirror proposes. */
import { expect, test } from "vitest";
import { SETTLED_KEPT } from "../../../src/core/interaction/settled-log.ts";
import { parseFrame } from "../../../src/protocol/envelope.ts";
import { selected, shared } from "../../support/world/shared.ts";
import type { World } from "../../support/world/world.ts";

test("R1 a prompt is passed on whatever the mirror believes of the turn, and the root's lane decides", () => {
  const { world, session, phone } = shared();
  world.prompt(world.primary, session, "first");
  const id = world.prompt(phone, session, "second");
  expect(world.agent.of("session/prompt")).toHaveLength(1);
  expect(phone.of("_acp-hub/turn").at(-1)?.params?.["queue"]).toMatchObject([{ title: "second" }]);
  world.agent.end(session);
  world.settle();
  world.agent.end(session);
  world.settle();
  expect(phone.result(id)).toEqual({ stopReason: "end_turn" });
});

test("R1 only the root numbers: what a client claims about itself is replaced by its credential", () => {
  const { world, session, phone } = shared();
  phone.request("session/prompt", {
    sessionId: session,
    prompt: [{ type: "text", text: "hi" }],
    _meta: { "acp-hub": { by: { connectionId: "primary", device: "x", name: "boss" }, seq: 99, epoch: "forged" } },
  });
  world.settle();
  const tablet = world.remote({ extended: true });
  world.load(tablet, session);
  const echo = tablet.of("session/update")[0]?.params;
  expect(echo).toMatchObject({ _meta: { "acp-hub": { seq: 2, by: { connectionId: phone.id, name: "phone" } } } });
  expect(JSON.stringify(world.agent.last("session/prompt"))).not.toContain("acp-hub");
});

test("R2 an interaction has one id on every copy, through a re-dial and a hub restart", () => {
  const { world, session, phone } = shared();
  const desk = world.remote({ extended: true });
  world.agent.askPermission(session);
  world.settle();
  const name = phone.dialog?.params["_meta"];
  expect(name).toMatchObject({ "acp-hub": { interactionId: expect.stringMatching(/^x/) } });
  expect(desk.dialog?.params["_meta"]).toEqual(name);
  // A plain editor's copy is a copy like any other: a request is ours to write, its updates are not (B1).
  expect(world.primary.dialog?.params["_meta"]).toEqual(name);
  world.cut();
  world.dial().settle();
  expect(phone.openDialogs).toHaveLength(1);
  world.restartHub();
  world.dial().settle();
  const back = world.remote({ extended: true });
  expect(back.dialog?.params["_meta"]).toEqual(name);
});

test("R3 the first answer to reach the root wins, and the verdict closes every copy", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  phone.choose("allow");
  world.primary.choose("reject");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(selected("reject"));
  expect(phone.openDialogs).toEqual([]);
  const notice = phone.of("_acp-hub/interaction_settled");
  expect(notice).toHaveLength(1);
  expect(notice[0]?.params).toMatchObject({ outcome: { optionId: "reject" }, by: { name: "editor" } });
  expect(world.problems).toEqual([]);
});

test("R3 of two answers at one mirror the second only queues, and goes up when the root refuses the first", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  const [view] = world.mirror.openInteractions();
  // `cancelled` counts for nothing while the editor is asked: the root refuses it.
  phone.answer(phone.openDialogs[0] as never, { outcome: { outcome: "cancelled" } });
  while (!world.mirrorObserved.some((each) => each.kind === "late-answer") && phone.up.waiting.length > 0) world.step();
  const by = { connectionId: "http", device: "d", name: "script" };
  if (view !== undefined) world.mirror.answer(view.interactionId, { result: selected("allow") }, by, () => undefined);
  world.settle();
  expect(phone.of("_acp-hub/interaction_rejected")).toHaveLength(1);
  expect(world.agent.answerTo(id)).toEqual(selected("allow"));
});

test("R3 an answer from outside the sockets gets the verdict, and a late one is told who won", () => {
  const { world, session, phone } = shared();
  world.agent.askPermission(session);
  world.settle();
  const [view] = world.mirror.openInteractions();
  const verdicts: unknown[] = [];
  const by = { connectionId: "http", device: "d", name: "script" };
  const answer = (optionId: string) =>
    view !== undefined &&
    world.mirror.answer(view.interactionId, { result: selected(optionId) }, by, (verdict) => verdicts.push(verdict));
  expect(answer("nonsense")).toBe(true);
  expect(answer("always")).toBe(true);
  world.settle();
  expect(answer("reject")).toBe(true);
  expect(verdicts).toMatchObject([
    { kind: "rejected" },
    { kind: "settled", notice: { outcome: { optionId: "always" }, by: { name: "script" } } },
    { kind: "settled", notice: { outcome: { optionId: "always" } } },
  ]);
  expect(phone.openDialogs).toEqual([]);
});

/** A proposal straight to the root, as a hub sends it that has not heard of the settlement; what the root says to it. */
function proposeLate(world: World, interactionId: string): readonly string[] {
  const by = { connectionId: "c9", device: "d", name: "late" };
  const params = { interactionId, by, result: selected("always") };
  const read = parseFrame(JSON.stringify({ jsonrpc: "2.0", method: "_acp-hub/link/propose", params }));
  if (!read.ok) throw new Error("not a frame");
  world.root.onLink(read.frame, world.now);
  const said = [...(world.linkDown?.waiting ?? [])];
  world.settle();
  return said;
}

test("R3 X2 a proposal that comes after the verdict gets the verdict once more, and the agent nothing", () => {
  const { world, session } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  const [view] = world.mirror.openInteractions();
  world.primary.choose("reject");
  world.settle();
  const said = proposeLate(world, view?.interactionId ?? "");
  expect(said.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { method: "_acp-hub/interaction_settled", params: { outcome: { optionId: "reject" }, by: { name: "editor" } } },
  ]);
  expect(world.agent.answerTo(id)).toEqual(selected("reject"));
  expect(world.problems).toEqual([]);
});

test("R3 the last verdicts are kept, up to the bound; of an older one a late proposal changes nothing", () => {
  const { world, session } = shared();
  const ids: string[] = [];
  for (let count = 0; count <= SETTLED_KEPT; count++) {
    world.agent.askPermission(session, `t${count}`);
    world.settle();
    ids.push(world.mirror.openInteractions()[0]?.interactionId ?? "");
    world.primary.choose("allow");
    world.settle();
  }
  expect(new Set(ids).size).toBe(SETTLED_KEPT + 1);
  expect(proposeLate(world, ids[0] ?? "")).toEqual([]);
  expect(proposeLate(world, ids[1] ?? "")).toHaveLength(1);
  expect(world.observed.filter((each) => each.kind === "late-answer")).toHaveLength(2);
  expect(world.problems).toEqual([]);
});

test("B4 who joins while a question is open is told that the turn waits", () => {
  const { world, session, phone } = shared();
  world.prompt(phone, session, "go");
  world.agent.askPermission(session);
  world.settle();
  const tablet = world.remote({ extended: true });
  const load = world.sendLoad(tablet, session);
  world.settle();
  expect(tablet.result(load)).toMatchObject({ _meta: { "acp-hub": { turn: { state: "waiting" } } } });
});

test("R4 a proposal made while the link is down goes up when it is back", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  world.cut();
  phone.choose("allow");
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
  world.dial().settle();
  expect(world.agent.answerTo(id)).toEqual(selected("allow"));
  expect(world.primary.openDialogs).toEqual([]);
});

test("R4 what was settled while the link was down is cancelled and told once it is back", () => {
  const { world, session, phone } = shared();
  world.agent.askPermission(session);
  world.settle();
  world.cut();
  world.primary.choose("allow");
  world.settle();
  expect(phone.openDialogs).toHaveLength(1);
  world.dial().settle();
  expect(phone.openDialogs).toEqual([]);
  expect(phone.of("_acp-hub/interaction_settled")).toHaveLength(1);
});

test("R4 what the root does not know any more has ended, and those who understand it are told", () => {
  const { world, session, phone } = shared();
  world.agent.askPermission(session);
  world.settle();
  world.mirror.onInstanceGone();
  world.settle();
  expect(phone.openDialogs).toEqual([]);
  expect(phone.of("_acp-hub/interaction_settled").at(-1)?.params).toMatchObject({ outcome: { action: "ended" } });
});

test("R5 a response owed to a dead link is never sent on the next one, under whatever id", () => {
  const { world, session, phone } = shared();
  const lost = world.prompt(phone, session, "one");
  world.cut();
  expect(world.settle() && phone.error(lost).data?.["code"]).toBe("link-lost");
  world.dial().settle();
  world.agent.end(session);
  world.settle();
  const received = phone.received.filter((message) => message.id === lost);
  expect(received).toHaveLength(1);
  expect(world.problems).toEqual([]);
});

test("R5 who returns by cursor learns the turn that ended and the interaction that was settled meanwhile", () => {
  const { world, session, phone } = shared();
  world.prompt(phone, session, "go", { promptId: "p-1" });
  world.agent.askPermission(session);
  world.settle();
  const cursor = phone.cursors.get(session);
  world.disconnect(phone);
  world.primary.choose("allow");
  world.settle();
  world.agent.end(session);
  world.settle();
  const back = world.remote({ extended: true });
  const result = world.load(back, session, { cursor });
  expect(result["_meta"]).toMatchObject({ "acp-hub": { verdict: "ok" } });
  expect(back.of("_acp-hub/interaction_settled")).toHaveLength(1);
  expect(back.of("_acp-hub/turn").at(-1)?.params).toMatchObject({
    state: "idle",
    stopReason: "end_turn",
    promptId: "p-1",
  });
});

test("R5 waiting prompts of a dead link are not run behind the back of clients that were told they failed", () => {
  const { world, session, phone } = shared();
  world.prompt(world.primary, session, "long");
  world.prompt(phone, session, "anonymous");
  world.prompt(phone, session, "named", { promptId: "p-1" });
  world.cut();
  world.settle().agent.end(session);
  world.settle();
  expect(world.agent.prompts.map((prompt) => prompt.params["prompt"])).toMatchObject([[{ text: "named" }]]);
});
