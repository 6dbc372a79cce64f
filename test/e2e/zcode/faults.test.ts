/** ZCode that dies in mid-turn, bridges that are started anew: H18 (c), H19. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type JsonObject, stringAt } from "../../../src/protocol/json.ts";
import { asking, PERMISSION, permission } from "../../support/fake-zcode/questions.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { loadOf, textPrompt } from "../../support/stage.ts";
import { eventually, ZcodeStage } from "../../support/zcode-stage.ts";
import { isCancelled, questionOf, transcriptOf, updatesOf } from "../../support/zcode-views.ts";

let stage: ZcodeStage;
afterEach(() => stage.end());

describe("H18 ZCode's own process ends", () => {
  it("H18 (c) in mid-turn with an open question and two remote clients: all is taken down once, the next prompt works", async () => {
    stage = new ZcodeStage({
      prompts: [
        { match: "before", steps: [{ do: "text", text: "kept. " }] },
        {
          match: "dies",
          steps: [
            { do: "text", text: "half. " },
            { do: "ask", name: "r1", method: PERMISSION, params: permission("r1", "c1") },
            { do: "until", name: "crash" },
            { do: "crash" },
          ],
        },
        {
          match: "again",
          steps: [...asking(PERMISSION, permission("r2", "c2")), { do: "text", text: "whole." }],
          after: [
            {
              do: "event",
              type: "session.updated",
              payload: { taskId: "t1", agentId: "a1", description: "Look around", status: "running" },
            },
          ],
        },
      ],
    });
    await stage.serve();
    const { editor, sessionId } = await stage.zcode();
    const remote = await stage.remote();
    const phone = await stage.phone();
    await remote.call("session/load", loadOf(sessionId));
    await phone.load(sessionId);
    await editor.call("session/prompt", textPrompt(sessionId, "before"));
    const turn = editor.call("session/prompt", textPrompt(sessionId, "dies")).catch((error: unknown) => error);
    const [atEditor, atRemote] = await Promise.all([questionOf(editor, sessionId), questionOf(remote, sessionId)]);
    await eventually("the phone shows it", () => phone.dialog !== undefined);
    stage.fake.go("crash");
    expect(await turn).toMatchObject({ code: -32603 });
    await eventually("every dialog is down", () => {
      const isDown = isCancelled(editor, atEditor.id) && isCancelled(remote, atRemote.id);
      return isDown && phone.dialog === undefined;
    });
    const next = phone.prompt("again");
    const second = await questionOf(editor, sessionId, 2);
    await eventually("the phone shows the new one", () => phone.dialog !== undefined);
    phone.choose("allow_once");
    expect(await stage.answer("r2")).toMatchObject({ decision: "allow" });
    expect(await next).toMatchObject({ result: { stopReason: "end_turn" } });
    await eventually("the editor's dialog is down", () => isCancelled(editor, second.id));
    for (const client of [editor, remote]) {
      await eventually("all is shown", () => transcriptOf(client, sessionId).text().endsWith("whole."));
      expect(transcriptOf(client, sessionId).text()).toBe("kept. half. whole.");
      const isTask = (update: JsonObject): boolean => JSON.stringify(update).includes("Look around");
      await eventually("background tasks are heard of again", () => updatesOf(client, sessionId).some(isTask));
    }
    expect(phone.text).toBe("kept. half. whole.");
    expect(stage.calls("session/create")).toHaveLength(1);
    expect(stage.fake.records().filter((record) => record.started !== undefined)).toHaveLength(2);
  });
});

describe("H19 a session that was never used, over a restart of the bridge", () => {
  const table = (): Record<string, JsonObject> =>
    JSON.parse(readFileSync(join(stage.home.dir, ".zcode", "v2", "acp-lazy-sessions.json"), "utf8")) as Record<
      string,
      JsonObject
    >;
  const gone = (child: { readonly exitCode: number | null; readonly signalCode: string | null }): Promise<void> =>
    eventually("the bridge is gone", () => child.exitCode !== null || child.signalCode !== null);
  const endBridge = async (bridge: { editor: RawClient; child: Parameters<typeof gone>[0] }): Promise<void> => {
    bridge.editor.close();
    await gone(bridge.child);
    await expect.poll(() => stage.instances(), { timeout: 10_000 }).toEqual([]);
  };

  it("H19 resumed by the editor and loaded by a phone at once it is made once, beside another bridge's record", async () => {
    stage = new ZcodeStage({});
    await stage.serve();
    const first = await stage.zcode();
    const u1 = first.sessionId;
    await stage.instanceId();
    await endBridge(first);
    expect(stage.calls("session/create")).toEqual([]);
    const { editor, child } = stage.bridge();
    await editor.initialize({});
    const phone = await stage.phone();
    // A bridge the hub does not know of writes a record of its own meanwhile.
    const beside = stage.bridge({ env: { ZCODE_ACP_REMOTE: "" } });
    await beside.editor.initialize({});
    const [, meta, other] = await Promise.all([
      editor.call("session/resume", { sessionId: u1, cwd: stage.project, mcpServers: [] }),
      phone.load(u1),
      beside.editor.call("session/new", { cwd: stage.project, mcpServers: [] }),
    ]);
    expect(meta.turnActive).toBe(false);
    const creates = stage.calls("session/create");
    expect(creates).toHaveLength(1);
    expect(await editor.call("session/prompt", textPrompt(u1, "hi"))).toMatchObject({ stopReason: "end_turn" });
    await eventually("the phone follows", () => phone.text === "echo: hi");
    const u2 = stringAt(other, "sessionId") ?? "";
    expect(Object.keys(table()).toSorted()).toEqual([u1, u2].toSorted());
    expect(table()[u1]).toMatchObject({ cwd: stage.project, zcodeSid: "sess_1" });
    await endBridge({ editor, child });
    // Used, it is found again under the same id by the next bridge.
    const third = stage.bridge();
    await third.editor.initialize({});
    await third.editor.call("session/load", { sessionId: u1, cwd: stage.project, mcpServers: [] });
    expect(transcriptOf(third.editor, u1).text()).toBe("echo: hi");
    expect(stage.calls("session/create")).toHaveLength(1);
  });

  it("H19 a bridge that is killed while it writes takes no other record with it", async () => {
    stage = new ZcodeStage({});
    await stage.serve();
    const kept = await stage.zcode();
    const doomed = stage.bridge({ env: { ZCODE_ACP_REMOTE: "" } });
    await doomed.editor.initialize({});
    const news = Array.from({ length: 20 }, () =>
      doomed.editor.call("session/new", { cwd: stage.project, mcpServers: [] }).catch(() => undefined),
    );
    await Promise.race(news);
    doomed.child.kill("SIGKILL");
    await Promise.all(news);
    expect(table()[kept.sessionId]).toMatchObject({ cwd: stage.project });
    const after = await kept.editor.call("session/new", { cwd: stage.project, mcpServers: [] });
    expect(Object.keys(table())).toEqual(expect.arrayContaining([kept.sessionId, stringAt(after, "sessionId")]));
  });
});
