import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ndjsonTransport } from "../../src/transport/ndjson.ts";
import { finished } from "../support/cli.ts";
import { RawClient } from "../support/raw-client.ts";
import { SdkClient } from "../support/sdk-client.ts";
import { loadOf, openSession, Stage, scripted, textPrompt } from "../support/stage.ts";

const SCRIPT = { turns: [[{ say: "I look. " }, { ask: true }, { say: "It was $answer." }]] };

describe("acp-hub attach as an editor's agent command", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = new Stage();
    await stage.serve();
  });
  afterEach(() => stage.end());

  const pipesOf = (child: ChildProcess) => {
    if (child.stdout === null || child.stdin === null) throw new Error("attach has no pipes");
    child.stderr?.resume();
    return ndjsonTransport(child.stdout, child.stdin);
  };
  const attach = (args: readonly string[], env: Record<string, string> = {}) => {
    const child = stage.home.spawn(["attach", ...args], env);
    return { child, editor: new RawClient(pipesOf(child)) };
  };
  const exitOf = async (child: ChildProcess): Promise<number | null> => {
    if (child.exitCode !== null) return child.exitCode;
    const [code] = (await once(child, "exit")) as [number | null];
    return code;
  };

  it("C1.attach X2 a client of the SDK adopts the session, prompts it, and answers what the agent asks", async () => {
    const { editor, sessionId } = await stage.share(SCRIPT);
    const child = stage.home.spawn(["attach", "--session", sessionId]);
    const second = new SdkClient(pipesOf(child), {
      permission: ({ options }) =>
        Promise.resolve({ outcome: { outcome: "selected", optionId: options[0]?.optionId ?? "" } }),
    });
    await second.initialize();
    expect((await second.newSession()).sessionId).toBe(sessionId);
    expect(await second.prompt(sessionId, "what is in here?")).toMatchObject({ stopReason: "end_turn" });
    expect(second.said).toContain("I look. It was ");
    // Its pipe is another one.
    await expect.poll(() => editor.textOf("agent_message_chunk")).toBe(second.said);
    expect(editor.textOf("user_message_chunk")).toBe("what is in here?");
    child.stdin?.end();
    expect(await exitOf(child)).toBe(0);
  });

  it("L2 P3 the hub is killed in the middle of a turn, and the attached editor's prompt ends as if nothing was", async () => {
    const { editor, sessionId } = await stage.share(SCRIPT);
    const { editor: second } = attach([]);
    await second.initialize({});
    await second.call("session/load", loadOf(sessionId));
    const turn = second.call("session/prompt", textPrompt(sessionId, "go on"));
    const asked = await second.nextRequest("session/request_permission");
    const info = await stage.hubInfo();
    process.kill(info?.pid ?? 0, "SIGKILL");
    await stage.serve(["--port", String(info?.port)]);
    await stage.linked();
    second.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    expect(second.frames.filter((frame) => frame.kind === "request")).toHaveLength(1);
    await expect.poll(() => editor.textOf("agent_message_chunk")).toBe(second.textOf("agent_message_chunk"));
    expect(second.textOf("user_message_chunk")).toBe("");
    expect(editor.textOf("user_message_chunk")).toBe("go on");
  });

  it("C1.attach C2.scopes a hub at an address is dialled with a token, and gives what its scope gives", async () => {
    const { sessionId } = await stage.share({ turns: [[{ say: "done" }]] });
    await stage.linked();
    const driver = attach(["--url", stage.url], { ACP_HUB_TOKEN: await stage.token("driver") });
    await driver.editor.initialize({});
    await driver.editor.call("session/load", loadOf(sessionId));
    expect(await driver.editor.call("session/prompt", textPrompt(sessionId, "hi"))).toMatchObject({
      stopReason: "end_turn",
    });
    const file = join(stage.home.dir, "token");
    writeFileSync(file, `${await stage.token("viewer")}\n`);
    chmodSync(file, 0o600);
    const viewer = attach(["--url", stage.url, "--token-file", file]);
    await viewer.editor.initialize({});
    await viewer.editor.call("session/load", loadOf(sessionId));
    expect(viewer.editor.textOf("agent_message_chunk")).toBe("done");
    await expect(viewer.editor.call("session/prompt", textPrompt(sessionId, "no"))).rejects.toMatchObject({
      code: -32003,
    });
  });

  it("C3.devices C4.close-codes a revoked token ends it: what waits is answered, the exit code is 1", async () => {
    const { sessionId } = await stage.share({ turns: [[{ never: true }]] });
    await stage.linked();
    const made = await stage.api("POST", "/api/tokens", { scope: "driver", name: "ci" });
    const { deviceId, token } = made.body as { deviceId: string; token: string };
    const { child, editor } = attach(["--url", stage.url], { ACP_HUB_TOKEN: token });
    await editor.initialize({});
    await editor.call("session/load", loadOf(sessionId));
    const turn = editor.call("session/prompt", textPrompt(sessionId, "hi"));
    turn.catch(() => undefined);
    await expect.poll(async () => (await stage.instances())[0]?.sessions[0]?.status).toBe("running");
    await stage.api("DELETE", `/api/devices/${deviceId}`);
    await expect(turn).rejects.toMatchObject({ code: -32603 });
    expect(await exitOf(child)).toBe(1);
  });

  it("C1.exit-codes wrong usage is 2, a refusal 1, no hub 3, and stdout carries nothing but ACP", async () => {
    expect(await stage.home.run(["attach", "--url", stage.url])).toMatchObject({ code: 2, stdout: "" });
    expect(await stage.home.run(["attach", "--nonsense"])).toMatchObject({ code: 2, stdout: "" });
    const refused = await finished(stage.home.spawn(["attach", "--url", stage.url], { ACP_HUB_TOKEN: "not-a-token" }));
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).not.toContain("not-a-token");
    const nobody = stage.home.spawn(["attach"], { ACP_HUB_HOME: join(stage.home.dir, "elsewhere") });
    const editor = new RawClient(pipesOf(nobody));
    await expect(editor.initialize({})).rejects.toMatchObject({ code: -32603, data: { code: "link-lost" } });
    expect(await exitOf(nobody)).toBe(3);
  });

  it("C1.attach an editor whose bridge has gone is told, and the command ends", async () => {
    const { child: bridge, editor: first } = stage.home.bridge(scripted());
    const sessionId = await openSession(first);
    const [instance] = await stage.linked();
    const { child, editor } = attach(["--instance", instance?.id ?? ""]);
    await editor.initialize({});
    await editor.call("session/load", loadOf(sessionId));
    bridge.stdin?.end();
    expect(await exitOf(child)).toBe(1);
  });
});
