/** The predecessor's phone, unchanged, on bridge and hub (contract §4, its dialect). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { asking, PERMISSION, permission } from "../../support/fake-zcode/questions.ts";
import type { Step } from "../../support/fake-zcode/scenario.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { textPrompt } from "../../support/stage.ts";
import { eventually, ZcodeStage } from "../../support/zcode-stage.ts";
import { isCancelled, questionOf, selected } from "../../support/zcode-views.ts";

const OLD_TURNS = 80;

/** A conversation of an earlier day: as many turns, of a prompt and an answer each. */
const stored = (turns: number): JsonObject[] =>
  Array.from({ length: turns }, (_, at) => [
    { info: { id: `u${at}`, role: "user" }, parts: [{ id: `u${at}p`, type: "text", text: `ask ${at}` }] },
    {
      info: { id: `a${at}`, role: "assistant", parentMessageId: `u${at}` },
      parts: [{ id: `a${at}p`, type: "text", text: `reply ${at}; ` }],
    },
  ]).flat();

const two: Step[] = [
  { do: "ask", name: "p1", method: PERMISSION, params: permission("p1", "c_p1", "first") },
  { do: "ask", name: "p2", method: PERMISSION, params: permission("p2", "c_p2", "second") },
  { do: "expectAnswer", name: "p1" },
  { do: "expectAnswer", name: "p2" },
];

describe("the predecessor's phone", () => {
  const stage = new ZcodeStage({
    prompts: [
      { match: "two", steps: [...two, { do: "text", text: "both answered" }] },
      {
        match: "wait",
        steps: [
          { do: "text", text: "waiting" },
          { do: "until", name: "waited" },
        ],
      },
      { match: "resent", steps: [...asking(PERMISSION, permission("again", "c_again")), { do: "text", text: "ok" }] },
    ],
    sessions: [{ sessionId: "sess_old", cwd: "/old", title: "Old talk", messages: stored(OLD_TURNS) }],
  });
  let editor: RawClient;
  let sessionId: string;

  beforeAll(async () => {
    await stage.serve();
    ({ editor, sessionId } = await stage.zcode());
  });
  afterAll(() => stage.end());

  it("loads without clientInfo, queues its own prompts, and hears that the turn is over before the response", async () => {
    const phone = await stage.phone();
    const meta = await phone.load(sessionId);
    expect(meta).toMatchObject({ hasMore: false, turnActive: false });
    const [first, second] = [phone.prompt("one"), phone.prompt("another")];
    expect(await first).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(await second).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(phone.order).toEqual([
      ...["running:true", "running:false", "response"],
      ...["running:true", "running:false", "response"],
    ]);
    phone.close();
  });

  it("pages back through a long conversation it opened from the store, turn by turn, to its beginning", async () => {
    const phone = await stage.phone();
    const meta = await phone.load("sess_old");
    expect(meta).toMatchObject({ hasMore: true, totalMessages: 2 * OLD_TURNS });
    expect(phone.text.endsWith(`reply ${OLD_TURNS - 1}; `)).toBe(true);
    const shown = phone.transcript.entries.length;
    expect(shown).toBeGreaterThanOrEqual(30);
    expect(shown).toBeLessThan(2 * OLD_TURNS);
    let pages = 0;
    while (phone.meta?.hasMore === true) {
      expect(await phone.earlier()).toBe(true);
      // A page starts with what a person said, never in the middle of an answer.
      expect(phone.page[0]).toMatchObject({ sessionUpdate: "user_message_chunk" });
      pages += 1;
    }
    expect(pages).toBeGreaterThan(1);
    const all = Array.from({ length: OLD_TURNS }, (_, at) => `reply ${at}; `).join("");
    expect(phone.text).toBe(all);
    phone.close();
  });

  it("is told that its cursor expired, and loads again", async () => {
    const phone = await stage.phone();
    await phone.load("sess_old");
    phone.meta = { ...phone.meta, hasMore: true, totalMessages: 0, turnActive: false, cursor: "stale" };
    expect(await phone.earlier()).toBe(false);
    expect(phone.text.endsWith(`reply ${OLD_TURNS - 1}; `)).toBe(true);
    expect(await phone.earlier()).toBe(true);
    phone.close();
  });

  it("X10 gets one dialog at a time, in order, and each goes by the id it reads", async () => {
    const phone = await stage.phone();
    await phone.load(sessionId);
    const turn = editor.call("session/prompt", textPrompt(sessionId, "two"));
    const [first, second] = [await questionOf(editor, sessionId, 1), await questionOf(editor, sessionId, 2)];
    const command = (): string => JSON.stringify(phone.dialog?.params["toolCall"]);
    await eventually("the first is shown", () => phone.dialog !== undefined);
    expect(command()).toContain("first");
    const { id } = phone.dialog ?? {};
    editor.answer(first.id, selected("deny"));
    await eventually("the second takes its place", () => phone.dialog !== undefined && phone.dialog.id !== id);
    expect(phone.cancelled).toEqual([id]);
    expect(command()).toContain("second");
    phone.choose("allow_once");
    await eventually("the editor's goes", () => isCancelled(editor, second.id));
    await turn;
    phone.close();
  });

  it("X6 comes back to an open question: card and question again, behind the history", async () => {
    const phone = await stage.phone();
    await phone.load(sessionId);
    const turn = editor.call("session/prompt", textPrompt(sessionId, "resent"));
    await eventually("it is shown", () => phone.dialog !== undefined);
    phone.drop();
    const back = await stage.phone();
    expect(await back.load(sessionId)).toMatchObject({ turnActive: true });
    await eventually("it is shown again", () => back.dialog !== undefined);
    const at = back.log.findIndex(({ what }) => what === "session/request_permission");
    const before = back.log.slice(0, at).map(({ frame }) => JSON.stringify(frame));
    expect(before.some((frame) => frame.includes('"tool_call"') && frame.includes("c_again"))).toBe(true);
    back.choose("allow_once");
    await turn;
    back.close();
  });

  it("knows from turn states what runs in sessions it does not show", async () => {
    const phone = await stage.phone();
    await phone.load(sessionId);
    const opened = await editor.call("session/new", { cwd: stage.project, mcpServers: [] });
    const other = String(opened["sessionId"]);
    const turn = editor.call("session/prompt", textPrompt(other, "wait"));
    await eventually("it runs there", () => phone.running.get(other) === true);
    stage.fake.go("waited");
    await turn;
    await eventually("it is over there", () => phone.running.get(other) === false);
    expect(phone.order).toEqual([]);
    phone.close();
  });
});
