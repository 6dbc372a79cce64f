/** Messages no client means: as deep as they are long, or larger than what is shared. Nobody else may notice. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadOf, Stage, textPrompt } from "../support/stage.ts";

const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const DEEP = nested(100_000);

describe("messages no client means", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.end());

  const deepPrompt = (sessionId: string): string =>
    `{"jsonrpc":"2.0","id":77,"method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":[{"type":"text","text":"x","_meta":{"a":${DEEP}}}]}}`;

  async function phoneOn(sessionId: string) {
    const phone = await stage.client("driver", `?instance=${(await stage.linked())[0]?.id}`);
    await phone.call("session/load", loadOf(sessionId));
    return phone;
  }

  it("T1 one nested without end is refused to its sender, by name; hub, bridge and everybody else go on", async () => {
    const { child } = await stage.serve();
    const { editor, sessionId } = await stage.share({ turns: [[{ say: "still here" }]] });
    const phone = await phoneOn(sessionId);
    phone.sendText(deepPrompt(sessionId));
    editor.sendText(deepPrompt(sessionId));
    for (const sender of [phone, editor])
      await expect
        .poll(() => JSON.stringify(sender.frames.map(({ msg }) => msg)))
        .toContain("nested deeper than 512 levels");
    // As deep as a body may be long where anybody may knock.
    const body = `{"code":${nested(8000)},"name":"x"}`;
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${stage.url}/api/pair`, { method: "POST", headers, body })).status).toBe(400);
    expect(await editor.call("session/prompt", textPrompt(sessionId, "go"))).toEqual({ stopReason: "end_turn" });
    await expect.poll(() => phone.textOf("agent_message_chunk")).toBe("still here");
    expect(child.exitCode).toBe(null);
  });

  it("T2 an agent's line nested without end is junk: counted by its length, and the turn goes on", async () => {
    await stage.serve();
    const deep = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","rawInput":${nested(20_000)}}}}`;
    const { editor, sessionId } = await stage.share({ turns: [[{ raw: deep }, { say: "on" }]] });
    const phone = await phoneOn(sessionId);
    expect(await editor.call("session/prompt", textPrompt(sessionId, "go"))).toEqual({ stopReason: "end_turn" });
    await expect.poll(() => phone.textOf("agent_message_chunk")).toBe("on");
  });

  it("T2 O4 a line of 40 MB is shared, and its readers are not closed for it", async () => {
    await stage.serve();
    const { editor, sessionId } = await stage.share({
      turns: [[{ stream: { count: 1, bytes: 40_000_000 } }, { ask: true }, { say: "!" }]],
    });
    const phone = await phoneOn(sessionId);
    const turn = editor.call("session/prompt", textPrompt(sessionId, "go"));
    const asked = await phone.nextRequest("session/request_permission");
    phone.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
    expect(await turn).toEqual({ stopReason: "end_turn" });
    await expect.poll(() => phone.textOf("agent_message_chunk").length, { timeout: 15_000 }).toBe(40_000_001);
    const late = await phoneOn(sessionId);
    expect(late.textOf("agent_message_chunk").length).toBe(40_000_001);
  });

  it("T2 a line over the limit of the hub is the editor's alone; others get a placeholder in its place", async () => {
    await stage.serve([], { ACP_HUB_LIMITS_AGENT_LINE_BYTES: "100000" });
    const { editor, sessionId } = await stage.share({
      turns: [[{ say: "before " }, { stream: { count: 1, bytes: 150_000 } }, { say: " after" }]],
    });
    const phone = await phoneOn(sessionId);
    expect(await editor.call("session/prompt", textPrompt(sessionId, "go"))).toEqual({ stopReason: "end_turn" });
    expect(editor.textOf("agent_message_chunk").length).toBe("before ".length + 150_000 + " after".length);
    const told = "before [150 kB left out: too large to share] after";
    await expect.poll(() => phone.textOf("agent_message_chunk")).toBe(told);
    expect((await phoneOn(sessionId)).textOf("agent_message_chunk")).toBe(told);
  });
});
