/** Who may reach a ZCode bridge from afar: the gate of the environment, and the token of the predecessor (contract §1, §2). */
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { objectAt } from "../../../src/protocol/json.ts";
import { connectClient, RpcFailed } from "../../support/raw-client.ts";
import { loadOf, textPrompt, upgrade } from "../../support/stage.ts";
import { eventually, REMOTE_TOKEN, ZcodeStage } from "../../support/zcode-stage.ts";
import { transcriptOf } from "../../support/zcode-views.ts";

/** Nobody listens on that address: the port stays free. */
async function freePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("the remote gate of the zcode profile", () => {
  let stage: ZcodeStage;
  beforeEach(() => {
    stage = new ZcodeStage({});
  });
  afterEach(() => stage.end());

  for (const value of ["", "0", "off"]) {
    it(`contract 1 ZCODE_ACP_REMOTE="${value}" is a plain stdio bridge: no hub is started, the running one never hears of it`, async () => {
      const alone = await stage.zcode({ env: { ZCODE_ACP_REMOTE: value }, isAutostart: true });
      expect(await alone.editor.call("session/prompt", textPrompt(alone.sessionId, "hi"))).toMatchObject({
        stopReason: "end_turn",
      });
      expect(transcriptOf(alone.editor, alone.sessionId).text()).toBe("echo: hi");
      expect(await stage.hubInfo()).toBeUndefined();
      expect(existsSync(stage.paths.linkSocket)).toBe(false);
      await stage.serve();
      const beside = await stage.zcode({ env: { ZCODE_ACP_REMOTE: value } });
      await beside.editor.call("session/prompt", textPrompt(beside.sessionId, "ho"));
      // A shared one that comes later is the only one there.
      await stage.zcode({ args: ["--name", "shared"] });
      expect((await stage.linked(1)).map(({ name }) => name)).toEqual(["shared"]);
      expect(beside.words()).toBe("");
    });
  }

  it("contract 1 a token that is too easy to guess is refused with words, and the bridge goes on unshared", async () => {
    await stage.serve();
    const { editor, sessionId, words } = await stage.zcode({ env: { ZCODE_ACP_REMOTE_TOKEN: "hunter2hunter2" } });
    expect(await editor.call("session/prompt", textPrompt(sessionId, "hi"))).toMatchObject({ stopReason: "end_turn" });
    await eventually("the words are there", () => words().includes("too easy to guess"));
    expect(words()).toContain("128 bits");
    expect(words()).not.toContain("hunter2");
    await stage.zcode({ args: ["--name", "shared"] });
    expect((await stage.linked(1)).map(({ name }) => name)).toEqual(["shared"]);
  });

  it("contract 1 ZCODE_ACP_HUB_HOST and _PORT say where a hub that the bridge starts listens, the hub's own variables over them", async () => {
    const port = await freePort("127.0.0.2");
    const env = { ZCODE_ACP_HUB_HOST: "127.0.0.2", ZCODE_ACP_HUB_PORT: String(port) };
    const { child } = await stage.zcode({ env, isAutostart: true });
    await stage.linked(1, 20_000);
    // A hub takes links a moment before it writes where it listens.
    const listens = { timeout: 10_000 };
    await expect.poll(() => stage.hubInfo(), listens).toMatchObject({ host: "127.0.0.2", port });
    child.kill("SIGTERM");
    expect((await stage.home.run(["stop"])).code).toBe(0);
    await stage.zcode({ env: { ...env, ACP_HUB_PORT: "0" }, isAutostart: true });
    await stage.linked(1, 20_000);
    await expect.poll(() => stage.hubInfo(), listens).toMatchObject({ host: "127.0.0.2" });
    expect((await stage.hubInfo())?.port).not.toBe(port);
  });

  it("contract 1 ACP_HUB_ZCODE sets the options of the profile", async () => {
    const { editor, sessionId } = await stage.zcode({ env: { ACP_HUB_ZCODE: '{"mode":"plan"}' } });
    await editor.call("session/prompt", textPrompt(sessionId, "hi"));
    expect(stage.calls("session/create").map(({ mode }) => mode)).toEqual(["plan"]);
  });

  it("contract 2 ZCODE_ACP_REMOTE_TOKEN opens /acp in ?token= as a driver that may start instances, nothing more", async () => {
    await stage.serve();
    const { editor, sessionId } = await stage.zcode();
    const id = await stage.instanceId();
    const opened = await upgrade(stage.acp(`?instance=${id}&token=${REMOTE_TOKEN}`));
    if ("status" in opened) throw new Error(`refused: ${opened.status}`);
    const client = opened.client();
    const welcome = await client.initialize();
    const scopes = objectAt(objectAt(welcome, "_meta"), "acp-hub")?.["scopes"] as string[];
    expect(scopes.toSorted()).toEqual([
      "files:read",
      "instances:create",
      "interactions:answer",
      "sessions:prompt",
      "sessions:read",
    ]);
    await client.call("session/load", loadOf(sessionId));
    expect(await client.call("session/prompt", textPrompt(sessionId, "from afar"))).toMatchObject({
      stopReason: "end_turn",
    });
    await eventually("the editor saw it", () => transcriptOf(editor, sessionId).text() === "echo: from afar");
    const refused = await client.call("session/delete", { sessionId }).catch((error: unknown) => error);
    expect(refused instanceof RpcFailed ? refused.code : refused).toBe(-32003);
    const other = await upgrade(stage.acp(`?instance=${id}&token=${REMOTE_TOKEN.replace("8", "9")}`));
    expect(other).toMatchObject({ status: 401 });
    const byHeader = await connectClient(stage.acp(`?instance=${id}`), REMOTE_TOKEN);
    expect(await byHeader.initialize()).toMatchObject({ protocolVersion: 1 });
    byHeader.close();
    client.close();
  });
});
