import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectAt } from "../../src/protocol/json.ts";
import { loadOf, type Shared, Stage, textPrompt } from "../support/stage.ts";

const scriptOf = (name: string) => ({
  sessionIds: [name],
  initialize: { agentInfo: { name, version: "1.0.0" } },
  turns: [[{ say: `${name} asks. ` }, { ask: true }, { say: "$answer" }]],
});

describe("two editors, one hub-wide connection", () => {
  const stage = new Stage();
  let left: Shared;
  let right: Shared;
  beforeAll(async () => {
    await stage.serve();
    [left, right] = await Promise.all([stage.share(scriptOf("left")), stage.share(scriptOf("right"))]);
    await stage.linked(2);
  });
  afterAll(() => stage.end());

  it("contract 4 S2 S9 lists, loads and steers the sessions of both; each result says whose agent it is", async () => {
    const phone = await stage.client("driver");
    const names = new Map<string, string>();
    for (const { sessionId } of [left, right]) {
      const loaded = await phone.call("session/load", loadOf(sessionId));
      const agent = objectAt(objectAt(objectAt(loaded, "_meta"), "acp-hub"), "agent");
      names.set(sessionId, String(objectAt(agent, "agentInfo")?.["name"]));
    }
    expect([...names]).toEqual([
      ["left", "left"],
      ["right", "right"],
    ]);
    const turns = [left, right].map(({ sessionId }) =>
      phone.call("session/prompt", textPrompt(sessionId, `to ${sessionId}`)),
    );
    for (const { editor } of [left, right]) {
      const asked = await editor.nextRequest("session/request_permission");
      editor.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
    }
    expect((await Promise.all(turns)).map((result) => result["stopReason"])).toEqual(["end_turn", "end_turn"]);
    await expect.poll(() => left.editor.textOf("user_message_chunk")).toBe("to left");
    await expect.poll(() => right.editor.textOf("user_message_chunk")).toBe("to right");
    const listed = (await phone.call("session/list", {}))["sessions"] as { sessionId: string }[];
    expect(listed.map(({ sessionId }) => sessionId).sort()).toEqual(["left", "right"]);
  });

  it("contract 4 P5 asks of both agents under ids of its own, and each answer finds its way", async () => {
    const phone = await stage.client("driver");
    for (const { sessionId } of [left, right]) await phone.call("session/load", loadOf(sessionId));
    const turns = [left, right].map(({ editor, sessionId }) =>
      editor.call("session/prompt", textPrompt(sessionId, "go")),
    );
    const first = await phone.nextRequest("session/request_permission");
    const second = await phone.nextRequest("session/request_permission");
    expect(first.id).not.toBe(second.id);
    for (const { editor } of [left, right]) await editor.nextRequest("session/request_permission");
    for (const { id, params } of [second, first]) {
      const optionId = params["sessionId"] === "left" ? "always" : "reject";
      phone.answer(id, { outcome: { outcome: "selected", optionId } });
    }
    await Promise.all(turns);
    expect(left.editor.textOf("agent_message_chunk")).toContain('"optionId":"always"');
    expect(right.editor.textOf("agent_message_chunk")).toContain('"optionId":"reject"');
  });

  it("contract 4 S9 an unnamed instance is refused with the candidates; a named one is taken", async () => {
    const owner = await stage.client("owner");
    const fresh = { cwd: "/", mcpServers: [] };
    const refused = await owner.call("session/new", fresh).then(
      () => undefined,
      (error: { code: number; data: { candidates: unknown[] } }) => error,
    );
    expect(refused).toMatchObject({ code: -32602, data: { code: "instance-required" } });
    expect(refused?.data.candidates).toHaveLength(2);
    const instance = (await stage.instances())[1];
    const made = await owner.call("session/new", {
      ...fresh,
      cwd: instance?.workspace ?? "/",
      _meta: { "acp-hub": { instance: instance?.id ?? "" } },
    });
    expect(objectAt(objectAt(objectAt(made, "_meta"), "acp-hub"), "agent")).toMatchObject({ instance: instance?.id });
  });

  it("B1 a watcher that attaches nothing sees both sessions, each in its order", async () => {
    const watcher = await stage.client("viewer");
    const turns = [left, right].map(({ editor, sessionId }) =>
      editor.call("session/prompt", textPrompt(sessionId, "watch me")),
    );
    for (const { editor } of [left, right]) {
      const asked = await editor.nextRequest("session/request_permission");
      editor.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
    }
    await Promise.all(turns);
    const textOf = (sessionId: string): string =>
      watcher
        .notifications("session/update")
        .filter((params) => params["sessionId"] === sessionId)
        .map((params) => String(objectAt(objectAt(params, "update"), "content")?.["text"] ?? ""))
        .join("");
    for (const name of ["left", "right"]) {
      await expect
        .poll(() => textOf(name), { timeout: 10_000 })
        .toBe(`watch me${name} asks. {"outcome":{"outcome":"selected","optionId":"allow"}}`);
    }
  });

  it("L3 one bridge killed: its session is gone from the connection, the other goes on", async () => {
    const phone = await stage.client("driver");
    for (const { sessionId } of [left, right]) await phone.call("session/load", loadOf(sessionId));
    right.child.kill("SIGKILL");
    expect(await phone.nextNotification("_acp-hub/detached")).toMatchObject({
      sessionId: "right",
      reason: "instance-gone",
    });
    const turn = phone.call("session/prompt", textPrompt("left", "alone now"));
    const asked = await left.editor.nextRequest("session/request_permission");
    left.editor.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
    expect((await turn)["stopReason"]).toBe("end_turn");
    expect(phone.closed).toBeUndefined();
    await expect(phone.call("session/prompt", textPrompt("right", "still there?"))).rejects.toMatchObject({
      code: -32004,
    });
  });
});
