/** The keys of the configuration that a bridge reads itself, and those a hub tells it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { finished } from "../support/cli.ts";
import { Stage, scripted, textPrompt } from "../support/stage.ts";

describe("a bridge's own keys of the configuration", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.end());

  const configure = (config: JsonObject): void =>
    writeFileSync(join(stage.home.dir, "config.json"), JSON.stringify(config), { mode: 0o600 });

  /** What the agent was told of forms, by an editor that has none. */
  async function formsSeen(): Promise<unknown> {
    const record = join(stage.home.dir, `record-${Math.random()}`);
    const { editor, child } = stage.home.bridge(scripted({ record }));
    await editor.initialize({});
    editor.close();
    await finished(child);
    const lines = readFileSync(record, "utf8").trim().split("\n");
    const messages = lines.map((line) => JSON.parse(line) as { method?: string; params?: JsonObject });
    const { params } = messages.find(({ method }) => method === "initialize") ?? {};
    return (params?.["clientCapabilities"] as JsonObject | undefined)?.["elicitation"];
  }

  it('I3 C1.config capabilities.forms "primary": an agent is promised no forms its editor has not', async () => {
    expect(await formsSeen()).toEqual({ form: {} });
    configure({ capabilities: { forms: "primary" } });
    expect(await formsSeen()).toBeUndefined();
  });

  it("C1.config autostart false: no hub is started, and the agent is served", async () => {
    configure({ autostart: false });
    const { editor, child } = stage.home.bridge(scripted({ turns: [[{ say: "on" }]] }), { isAutostart: true });
    await editor.initialize({});
    const opened = await editor.call("session/new", { cwd: "/", mcpServers: [] });
    await editor.call("session/prompt", textPrompt(String(opened["sessionId"]), "go"));
    expect(editor.textOf("agent_message_chunk")).toBe("on");
    editor.close();
    await finished(child);
    expect(existsSync(stage.paths.hubInfo)).toBe(false);
  });

  it("C1.config a wrong value is named on stderr, and the editor gets its agent", async () => {
    configure({ autostart: "perhaps" });
    const { editor, child } = stage.home.bridge(scripted());
    const ended = finished(child);
    expect((await editor.initialize({}))["protocolVersion"]).toBe(1);
    editor.close();
    expect((await ended).stderr).toContain('autostart: "perhaps" must be true or false');
  });

  it("C1.config ACP_HUB_AGENTS: a profile of the environment runs, over the file's of the same name; a broken one is told", async () => {
    const profile = (text: string): JsonObject => {
      const [, command = "", ...args] = scripted({ turns: [[{ say: text }]] });
      return { mine: { command, args } };
    };
    configure({ agents: profile("of the file") });
    const said = async (agents: string): Promise<{ text: string; stderr: string }> => {
      const { editor, child } = stage.home.bridge(["mine"], { env: { ACP_HUB_AGENTS: agents } });
      const ended = finished(child);
      await editor.initialize({});
      const { sessionId } = await editor.call("session/new", { cwd: "/", mcpServers: [] });
      await editor.call("session/prompt", textPrompt(String(sessionId), "go"));
      editor.close();
      return { text: editor.textOf("agent_message_chunk"), stderr: (await ended).stderr };
    };
    expect((await said(JSON.stringify(profile("of the environment")))).text).toBe("of the environment");
    expect(await said("{")).toEqual({
      text: "of the file",
      stderr: expect.stringContaining("ACP_HUB_AGENTS must be a JSON object"),
    });
  });

  it("X5 C1.config interactions.timeoutMs of the hub ends a question in the bridge with the agent's own no", async () => {
    await stage.serve([], { ACP_HUB_INTERACTIONS_TIMEOUT_MS: "1000" });
    const { editor, sessionId } = await stage.share({ turns: [[{ ask: true }, { say: "$answer" }]] });
    await stage.linked();
    expect(await editor.call("session/prompt", textPrompt(sessionId, "go"))).toEqual({ stopReason: "end_turn" });
    expect(editor.textOf("agent_message_chunk")).toContain("reject");
    await editor.nextNotification("$/cancel_request");
  });
});
