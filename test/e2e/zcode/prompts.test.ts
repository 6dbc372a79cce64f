/** Prompts of several clients in one session: H11 (as a queue), H12. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { loadOf, textPrompt } from "../../support/stage.ts";
import { eventually, ZcodeStage } from "../../support/zcode-stage.ts";
import { transcriptOf } from "../../support/zcode-views.ts";

describe("prompts of several clients", () => {
  const stage = new ZcodeStage({
    prompts: [
      {
        match: "prompt A",
        steps: [
          { do: "text", text: "answer A" },
          { do: "until", name: "a" },
        ],
      },
      { match: "prompt B", steps: [{ do: "text", text: "answer B" }] },
      { match: "prompt C", steps: [{ do: "text", text: "answer C" }] },
    ],
  });
  let editor: RawClient;
  const newSession = async (): Promise<string> =>
    stage.known(String((await editor.call("session/new", { cwd: stage.project, mcpServers: [] }))["sessionId"]));
  /** Texts sent to ZCode since the mark. */
  const sent = (from: number): string[] =>
    stage
      .calls("session/send")
      .slice(from)
      .map((call) => String(call["content"]));

  beforeAll(async () => {
    await stage.serve();
    ({ editor } = await stage.zcode());
  });
  afterAll(() => stage.end());

  it("H11 P1 a prompt of another client waits, keeps its place, and only it goes when it is taken back", async () => {
    const sessionId = await newSession();
    const remote = await stage.remote();
    const phone = await stage.phone();
    await remote.call("session/load", loadOf(sessionId));
    await phone.load(sessionId);
    const mark = stage.calls("session/send").length;
    const a = editor.call("session/prompt", textPrompt(sessionId, "prompt A"));
    await eventually("A runs", () => phone.text === "answer A");
    const taken = phone.promptNow("prompt never");
    const queued = (): JsonObject[] => {
      const turn = remote.notifications("_acp-hub/turn").findLast((notice) => notice["sessionId"] === sessionId);
      return (turn?.["queue"] as JsonObject[] | undefined) ?? [];
    };
    await eventually("it waits", () => queued().length === 1);
    const b = remote.call("session/prompt", textPrompt(sessionId, "prompt B"));
    await eventually("both wait", () => queued().length === 2);
    expect(queued().map((entry) => entry["title"])).toEqual(["prompt never", "prompt B"]);
    const c = phone.promptNow("prompt C");
    await eventually("three wait", () => queued().length === 3);
    phone.cancelRequest(taken.id);
    expect(objectAt(await taken.reply, "error")?.["code"]).toBe(-32800);
    await eventually("two are left", () => queued().length === 2);
    expect(sent(mark)).toEqual(["prompt A"]);
    stage.fake.go("a");
    expect(await a).toMatchObject({ stopReason: "end_turn" });
    expect(await b).toMatchObject({ stopReason: "end_turn" });
    expect(objectAt(await c.reply, "result")).toMatchObject({ stopReason: "end_turn" });
    expect(sent(mark)).toEqual(["prompt A", "prompt B", "prompt C"]);
    // Each prompt of another stands before its answer, none of one's own, none of the one taken back.
    const shown = (client: RawClient): string => {
      const entries = (transcriptOf(client, sessionId).normal() as { entries: JsonObject[] }).entries;
      return entries.map((entry) => stringAt(entry, "text") ?? "").join("|");
    };
    await eventually("the editor has all", () => shown(editor).endsWith("answer C"));
    expect(shown(editor)).toBe("answer A|prompt B|answer B|prompt C|answer C");
    await eventually("the remote has all", () => shown(remote).endsWith("answer C"));
    expect(shown(remote)).toBe("prompt A|answer A|answer B|prompt C|answer C");
    expect(phone.order.at(-2)).toBe("running:false");
    expect(phone.order.at(-1)).toBe("response");
    expect(stage.refusals().map((error) => error["code"])).not.toContain(-32010);
  });

  it("H12 three prompts in one tick on a session ZCode has not made yet: one create, in order, never busy", async () => {
    const sessionId = await newSession();
    const remote = await stage.remote();
    const phone = await stage.phone();
    await phone.load(sessionId);
    const mark = stage.calls("session/send").length;
    const creates = stage.calls("session/create").length;
    const replies = [
      editor.call("session/prompt", textPrompt(sessionId, "first")),
      remote.call("session/prompt", textPrompt(sessionId, "second")),
      phone.prompt("third").then((reply) => objectAt(reply, "result") ?? {}),
    ];
    for (const reply of await Promise.all(replies)) expect(reply).toMatchObject({ stopReason: "end_turn" });
    expect(stage.calls("session/create").length - creates).toBe(1);
    expect(sent(mark).toSorted()).toEqual(["first", "second", "third"]);
    const answers = sent(mark).map((text) => `echo: ${text}`);
    await eventually("the editor has all", () => transcriptOf(editor, sessionId).text() === answers.join(""));
    expect(stage.refusals().map((error) => error["code"])).not.toContain(-32010);
  });
});
