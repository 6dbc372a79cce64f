import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { objectAt, stringAt } from "../../src/protocol/json.ts";
import { connectClient } from "../support/raw-client.ts";
import { loadOf, Stage, scripted, textPrompt } from "../support/stage.ts";

const SCRIPT = {
  turns: [[{ say: "I will look. " }, { ask: true }, { say: "The answer was $answer." }]],
};

describe("first contact, from an empty home", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = new Stage();
    await stage.serve();
  });
  afterEach(() => stage.end());

  it("B1 X2 lets a viewer watch, an approver answer and the editor see who did, on one running turn", async () => {
    const { editor, sessionId } = await stage.share(SCRIPT);
    const [instance] = await stage.linked();
    const viewer = await stage.client("viewer", `?instance=${instance?.id}`);
    const approver = await stage.client("approver", `?instance=${instance?.id}`);
    for (const client of [viewer, approver]) await client.call("session/load", loadOf(sessionId));
    const turn = editor.call("session/prompt", textPrompt(sessionId, "what is in here?"));
    const asked = await approver.nextRequest("session/request_permission");
    const atEditor = await editor.nextRequest("session/request_permission");
    approver.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
    expect(await turn).toEqual({ stopReason: "end_turn" });
    const withdrawn = await editor.nextNotification("$/cancel_request");
    expect(withdrawn).toMatchObject({ requestId: atEditor.id, id: atEditor.id });
    await expect.poll(() => viewer.textOf("agent_message_chunk")).toBe(editor.textOf("agent_message_chunk"));
    expect(editor.textOf("agent_message_chunk")).toContain('"optionId":"allow"');
    expect(viewer.textOf("user_message_chunk")).toBe("what is in here?");
    const settled = await viewer.nextNotification("_acp-hub/interaction_settled");
    expect(objectAt(settled, "by")?.["name"]).toBe("approver");
    expect(viewer.frames.filter((frame) => frame.kind === "request")).toEqual([]);
  });

  it("P1 B3 lets a driver steer: its prompt runs, the editor and the viewer see it as a user message", async () => {
    const { editor, sessionId } = await stage.share({ turns: [[{ say: "done" }]] });
    const [instance] = await stage.linked();
    const driver = await stage.client("driver", `?instance=${instance?.id}`);
    const viewer = await stage.client("viewer", `?instance=${instance?.id}`);
    for (const client of [driver, viewer]) await client.call("session/load", loadOf(sessionId));
    const result = await driver.call("session/prompt", textPrompt(sessionId, "from the phone"));
    expect(result["stopReason"]).toBe("end_turn");
    await expect.poll(() => editor.textOf("user_message_chunk")).toBe("from the phone");
    await expect.poll(() => viewer.textOf("agent_message_chunk")).toBe("done");
    expect(driver.textOf("user_message_chunk")).toBe("");
  });

  it("contract 2 refuses by scope with -32003, and says which is missing", async () => {
    const { sessionId } = await stage.share({ turns: [[{ ask: true }]] });
    const [instance] = await stage.linked();
    const viewer = await stage.client("viewer", `?instance=${instance?.id}`);
    await viewer.call("session/load", loadOf(sessionId));
    await expect(viewer.call("session/prompt", textPrompt(sessionId, "no"))).rejects.toMatchObject({ code: -32003 });
    await expect(viewer.call("session/set_mode", { sessionId, modeId: "x" })).rejects.toMatchObject({ code: -32003 });
    await expect(viewer.call("authenticate", { methodId: "x" })).rejects.toMatchObject({ code: -32003 });
  });

  it("I5 tells a remote client what the hub adds, and the editor exactly what the agent said", async () => {
    const { editor, child } = stage.home.bridge(scripted());
    const own = await editor.initialize({});
    expect(own).toEqual({
      protocolVersion: 1,
      agentInfo: { name: "scripted", version: "1.0.0" },
      agentCapabilities: { loadSession: true },
      authMethods: [],
    });
    const [instance] = await stage.linked();
    expect(instance).toMatchObject({ pid: child.pid, origin: "editor", agent: { name: "scripted" } });
    const remote = await connectClient(stage.acp(`?instance=${instance?.id}`), await stage.token("viewer"));
    const answer = await remote.initialize();
    expect(stringAt(objectAt(answer, "agentInfo"), "name")).toBe("scripted");
    expect(answer).toMatchObject({
      agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {}, close: {} } },
      _meta: { "acp-hub": { instance: instance?.id, scopes: ["sessions:read"] } },
    });
    remote.close();
  });
});
