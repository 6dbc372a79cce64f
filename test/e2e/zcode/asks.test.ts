/** One question of ZCode, an editor and two remote clients at once: H1, H2, H4, H5, H6, H7, H8. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type JsonObject, objectAt } from "../../../src/protocol/json.ts";
import {
  ALLOW,
  asking,
  DENY,
  PERMISSION,
  permission,
  plan,
  questions,
  RULES,
  USER_INPUT,
} from "../../support/fake-zcode/questions.ts";
import type { PromptScript } from "../../support/fake-zcode/scenario.ts";
import type { Phone } from "../../support/phone.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { loadOf, textPrompt } from "../../support/stage.ts";
import { eventually, ZcodeStage } from "../../support/zcode-stage.ts";
import { isCancelled, questionOf, questionsOf, selected } from "../../support/zcode-views.ts";

const END = { do: "text", text: "done" } as const;
const permissionTurn = (id: string): PromptScript => ({
  match: id,
  steps: [...asking(PERMISSION, permission(id, `c_${id}`)), END],
});
const inputTurn = (id: string, params: JsonObject): PromptScript => ({
  match: id,
  steps: [...asking(USER_INPUT, params), END],
});

const PROMPTS: PromptScript[] = [
  ...["h1", "h2", "h4a", "h4b", "h4c", "h4d", "h5"].map(permissionTurn),
  inputTurn("plan-yes", plan("plan-yes", "c_plan_yes")),
  inputTurn("plan-no", plan("plan-no", "c_plan_no")),
  inputTurn("plan-text", plan("plan-text", "c_plan_text")),
  inputTurn("form", questions("form", "c_form")),
  inputTurn("left", questions("left", "c_left")),
];

const FORMS: JsonObject = { elicitation: { form: {} } };
const optionsOf = (params: JsonObject): string[] =>
  (params["options"] as JsonObject[]).map((option) => `${option["optionId"]}:${option["kind"]}`);

describe("questions of ZCode with an editor and two remote clients", () => {
  const stage = new ZcodeStage({ prompts: PROMPTS });
  let editor: RawClient;
  let remote: RawClient;
  let phone: Phone;
  let sessionId: string;

  beforeAll(async () => {
    await stage.serve();
    ({ editor } = await stage.zcode({ capabilities: FORMS }));
    remote = await stage.remote();
    phone = await stage.phone();
  });
  afterAll(() => stage.end());

  const newSession = async (): Promise<string> =>
    stage.known(String((await editor.call("session/new", { cwd: stage.project, mcpServers: [] }))["sessionId"]));
  const start = (text: string): Promise<JsonObject> => {
    const turn = editor.call("session/prompt", textPrompt(sessionId, text));
    // A test that fails before it waits for the turn says why by itself.
    turn.catch(() => undefined);
    return turn;
  };
  const shown = (): Promise<void> => eventually("the phone shows it", () => phone.dialog !== undefined);

  beforeEach(async () => {
    sessionId = await newSession();
    if (phone.isGone) phone = await stage.phone();
    await remote.call("session/load", loadOf(sessionId));
    await phone.load(sessionId);
  });

  it("H1 the phone's answer goes to ZCode with its rules, once per announcement; the others are dismissed", async () => {
    const turn = start("h1");
    const [atEditor, atRemote] = await Promise.all([questionOf(editor, sessionId), questionOf(remote, sessionId)]);
    await shown();
    const kinds = ["allow_once:allow_once", "allow_project:allow_always", "deny:reject_once"];
    expect(optionsOf(atEditor.params)).toEqual(kinds);
    expect(optionsOf(phone.dialog?.params ?? {})).toEqual(kinds);
    await eventually("ZCode announces it again", () => stage.announced("h1").length >= 2);
    phone.choose("allow_project");
    expect(await stage.answer("h1")).toEqual(RULES);
    await turn;
    expect(stage.answers("h1").length).toBe(stage.announced("h1").length);
    await eventually("the editor is told", () => isCancelled(editor, atEditor.id));
    await eventually("the remote is told", () => isCancelled(remote, atRemote.id));
    editor.answer(atEditor.id, selected("deny"));
    remote.refuse(atRemote.id, -32800);
    await eventually("it ends", () => phone.text === "done");
    expect(new Set(stage.answers("h1").map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify(RULES)]),
    );
    for (const client of [editor, remote]) expect(questionsOf(client, sessionId)).toHaveLength(1);
  });

  it("H2 opposite answers in one tick: one reaches ZCode, the loser hears who won", async () => {
    const turn = start("h2");
    const [atEditor, atRemote] = await Promise.all([questionOf(editor, sessionId), questionOf(remote, sessionId)]);
    await shown();
    editor.answer(atEditor.id, selected("deny"));
    remote.answer(atRemote.id, selected("allow_once"));
    phone.choose("allow_project");
    const answer = await stage.answer("h2");
    expect([DENY, ALLOW, RULES]).toContainEqual(answer);
    await turn;
    const settled = (): JsonObject | undefined =>
      remote.notifications("_acp-hub/interaction_settled").find((notice) => notice["toolCallId"] === "c_h2");
    await eventually("the winner is named", () => settled() !== undefined);
    const optionId = objectAt(settled(), "outcome")?.["optionId"];
    const given: Record<string, JsonObject> = { deny: DENY, allow_once: ALLOW, allow_project: RULES };
    expect(given[String(optionId)]).toEqual(answer);
    expect(stage.answers("h2").length).toBe(stage.announced("h2").length);
  });

  describe("H4 a phone that was away when it was asked", () => {
    let late: Phone;
    let asked: { readonly id: unknown };
    let turn: Promise<JsonObject>;
    const arrive = async (text: string): Promise<void> => {
      turn = start(text);
      asked = await questionOf(editor, sessionId);
      late = await stage.phone();
      await late.load(sessionId);
    };
    afterEach(() => late.close());
    const answerAtEditor = (): void => editor.answer(asked.id as number, selected("deny"));

    it("H4 (b) is asked 300 ms after its history, behind the card; the editor's answer takes it down", async () => {
      await arrive("h4b");
      expect(late.dialog).toBeUndefined();
      await eventually("it is asked", () => late.dialog !== undefined);
      const askedAt = late.lastOf("session/request_permission") ?? 0;
      const [loadedAt] = late.log.filter(({ what }) => what === "response").slice(-1);
      expect(askedAt - (loadedAt?.at ?? 0)).toBeGreaterThan(250);
      expect(questionsOf(editor, sessionId)).toHaveLength(1);
      const id = late.dialog?.id;
      answerAtEditor();
      expect(await stage.answer("h4b")).toEqual(DENY);
      await eventually("it is taken down", () => late.dialog === undefined);
      expect(late.cancelled).toEqual([id]);
      await turn;
    });

    it("H4 (a) never sees what is answered before that", async () => {
      await arrive("h4a");
      answerAtEditor();
      await turn;
      await eventually("the end is shown", () => late.text === "done");
      expect(late.log.filter(({ what }) => what === "session/request_permission")).toEqual([]);
    });

    it("H4 (c) loads twice: one dialog is open, the first was taken back", async () => {
      await arrive("h4c");
      await eventually("it is asked", () => late.dialog !== undefined);
      const first = late.dialog?.id;
      await late.load(sessionId);
      await eventually("it is asked again", () => late.dialog !== undefined);
      expect(late.dialog?.id).not.toBe(first);
      expect(late.cancelled).toEqual([first]);
      late.choose("allow_once");
      expect(await stage.answer("h4c")).toEqual(ALLOW);
      await turn;
    });

    it("H4 (d) under another id of the same session it is asked under that id", async () => {
      turn = start("h4d");
      await questionOf(editor, sessionId);
      const zcodeSid = String(stage.calls("session/send").at(-1)?.["sessionId"]);
      late = await stage.phone();
      await late.load(zcodeSid, stage.project);
      await eventually("it is asked", () => late.dialog?.params["sessionId"] === zcodeSid);
      late.choose("allow_once");
      expect(await stage.answer("h4d")).toEqual(ALLOW);
      await turn;
      await eventually("the end is shown", () => late.text.endsWith("done"));
    });
  });

  it("H5 X5 the editor steps back and the phones go: the question stays open until somebody is there", async () => {
    const turn = start("h5");
    const first = await questionOf(editor, sessionId);
    const only = await stage.phone();
    await only.load(sessionId);
    await eventually("it is asked", () => only.dialog !== undefined);
    editor.refuse(first.id, -32601);
    const atRemote = await questionOf(remote, sessionId);
    remote.refuse(atRemote.id, -32601);
    await shown();
    phone.drop();
    only.drop();
    const again = await questionOf(editor, sessionId, 2);
    const announced = stage.announced("h5").length;
    await eventually("ZCode goes on asking", () => stage.announced("h5").length > announced);
    expect(stage.answers("h5")).toEqual([]);
    editor.answer(again.id, selected("allow_once"));
    expect(await stage.answer("h5")).toEqual(ALLOW);
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
  });

  describe("H7 H8 plans and questions where the editor has forms and the phone has none", () => {
    const answerForm = async (content: JsonObject): Promise<void> => {
      const form = await questionOf(editor, sessionId);
      expect(form.method).toBe("elicitation/create");
      editor.answer(form.id, { action: "accept", content });
    };

    it("H8 X8 a plan is two buttons at the phone: approve", async () => {
      const turn = start("plan-yes");
      await shown();
      expect(optionsOf(phone.dialog?.params ?? {})).toEqual(["approve:allow_once", "reject:reject_once"]);
      expect(JSON.stringify(phone.dialog?.params)).toContain("1. Build it");
      phone.choose("approve");
      expect(await stage.answer("plan-yes")).toEqual({ action: "accept", content: { answer_0: "approve" } });
      await turn;
    });

    it("H7 H8 a plan is rejected plainly with decline", async () => {
      const turn = start("plan-no");
      await shown();
      phone.choose("reject");
      expect(await stage.answer("plan-no")).toEqual({ action: "decline" });
      const form = await questionOf(editor, sessionId);
      await eventually("the form goes", () => isCancelled(editor, form.id));
      await turn;
    });

    it("H7 a plan rejected with words goes as an accepted answer, which is feedback", async () => {
      const turn = start("plan-text");
      await shown();
      const { id } = phone.dialog ?? {};
      await answerForm({ feedback: "use sqlite" });
      expect(await stage.answer("plan-text")).toEqual({ action: "accept", content: { answer_0: "use sqlite" } });
      await eventually("the buttons go", () => phone.cancelled.includes(id ?? null));
      await turn;
    });

    it("H8 the form wins over a phone that is half through its popups", async () => {
      const turn = start("form");
      await shown();
      phone.choose("acp-hub:0:0");
      await shown();
      const second = phone.dialog?.id;
      await answerForm({ q_0: "b", q_1: ["x", "y"] });
      expect(await stage.answer("form")).toEqual({
        action: "accept",
        content: { answers: { Q1: "b", Q2: "x, y" } },
      });
      await eventually("the popup goes", () => phone.cancelled.includes(second ?? null));
      await turn;
    });

    it("H8 I3 when the last client with forms leaves, the next question comes without", async () => {
      await editor.initialize({});
      const forms = await stage.remote(FORMS);
      await forms.call("session/load", loadOf(sessionId));
      const turn = start("form");
      expect((await questionOf(forms, sessionId)).method).toBe("elicitation/create");
      const popup = await questionOf(editor, sessionId);
      expect(popup.method).toBe("session/request_permission");
      const form = await questionOf(forms, sessionId);
      forms.answer(form.id, { action: "decline" });
      await turn;
      forms.close();
      const isGone = async (): Promise<boolean> => ((await stage.linked())[0]?.clients ?? 0) <= 2;
      await expect.poll(isGone, { timeout: 10_000 }).toBe(true);
      sessionId = await newSession();
      const next = start("left");
      const plain = await questionOf(editor, sessionId);
      expect(plain.method).toBe("session/request_permission");
      expect(optionsOf(plain.params)).toContain("o_0:allow_once");
      editor.answer(plain.id, selected("decline"));
      expect(await stage.answer("left")).toMatchObject({ action: "decline" });
      await next;
      await editor.initialize(FORMS);
    });
  });
});

describe("H6 a stop that ZCode takes its time to follow", () => {
  const stage = new ZcodeStage({
    knobs: { ignoresStop: "v4" },
    prompts: [
      {
        match: "stop",
        steps: [
          ...asking(PERMISSION, permission("stop-1", "c1")),
          { do: "until", name: "the prompt has ended" },
          ...asking(PERMISSION, permission("stop-2", "c2")),
          END,
        ],
      },
    ],
  });
  afterAll(() => stage.end());

  it("H6 X7 every dialog closes, the prompt is cancelled, later questions of that turn are denied unseen", async () => {
    await stage.serve();
    const { editor, sessionId } = await stage.zcode();
    const remote = await stage.remote();
    const phone = await stage.phone();
    await remote.call("session/load", loadOf(sessionId));
    await phone.load(sessionId);
    const turn = editor.call("session/prompt", textPrompt(sessionId, "stop"));
    const [atEditor, atRemote] = await Promise.all([questionOf(editor, sessionId), questionOf(remote, sessionId)]);
    await eventually("the phone shows it", () => phone.dialog !== undefined);
    const dialog = phone.dialog?.id;
    phone.stop();
    const stoppedAt = performance.now();
    expect(await turn).toEqual({ stopReason: "cancelled" });
    const tookMs = performance.now() - stoppedAt;
    // ZCode has not ended its turn: nobody waited for it, nor for any limit of how long to.
    expect(tookMs).toBeLessThan(5000);
    stage.fake.go("the prompt has ended");
    await eventually("all dialogs are down", () => {
      const isDown = isCancelled(editor, atEditor.id) && isCancelled(remote, atRemote.id);
      return isDown && phone.cancelled.includes(dialog ?? null);
    });
    expect(await stage.answer("stop-1")).toMatchObject({ decision: "deny" });
    expect(await stage.answer("stop-2")).toMatchObject({ decision: "deny" });
    const stops = stage.received().filter((frame) => frame["method"] === "session/stop");
    expect(stops).toHaveLength(1);
    expect(stops[0]).toHaveProperty("id");
    expect(stage.calls("v4/command").map((call) => call["type"])).toEqual(["stop"]);
    for (const client of [editor, remote]) expect(questionsOf(client, sessionId)).toHaveLength(1);
    expect(phone.log.filter(({ what }) => what === "session/request_permission")).toHaveLength(1);
  });
});
