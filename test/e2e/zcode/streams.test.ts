/** What is shown of a turn, to whom and in which order: H9, H10, H17. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";
import { readStamp } from "../../../src/protocol/meta.ts";
import type { PromptScript, Step } from "../../support/fake-zcode/scenario.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { loadOf, textPrompt } from "../../support/stage.ts";
import type { Transcript } from "../../support/world/transcript.ts";
import { eventually, ZcodeStage } from "../../support/zcode-stage.ts";
import { transcriptOf, updatesOf } from "../../support/zcode-views.ts";

const text = (words: string, message?: string): Step => ({
  do: "text",
  text: words,
  ...(message === undefined ? {} : { message }),
});
const until = (name: string): Step => ({ do: "until", name });
const bash = (kind: string, more: JsonObject = {}): Step => ({
  do: "tool",
  payload: { kind, toolCallId: "c_tool", toolName: "Bash", ...more },
});
const task = (members: JsonObject): Step => ({
  do: "event",
  type: "session.updated",
  payload: { taskId: "exec_1", toolCallId: "c9", toolName: "Bash", ...members },
});

const PROMPTS: PromptScript[] = [
  { match: "older", steps: [text("older answer")] },
  { match: "h9", steps: [text("one "), text("two "), until("h9"), text("three "), text("four")] },
  {
    match: "h10",
    steps: [
      text("first half, ", "m_long"),
      bash("scheduled", { input: { command: "ls" } }),
      bash("started"),
      until("h10"),
      text("second half. ", "m_long"),
      bash("result", { result: { content: "file.txt" } }),
      { do: "set", members: { todos: [{ content: "Write it", status: "in_progress", priority: "high" }] } },
      bash("result", { toolCallId: "c_todo", toolName: "TodoWrite", result: { content: "ok" } }),
      until("h10-end"),
      text("last words", "m_last"),
    ],
  },
  {
    match: "h17",
    steps: [
      {
        do: "event",
        type: "model.streaming",
        payload: {
          kind: "tool_call",
          toolCallId: "c9",
          toolName: "Bash",
          input: { command: "make", run_in_background: true },
        },
      },
      { do: "tool", payload: { kind: "scheduled", toolCallId: "c9", toolName: "Bash", inputOmitted: true } },
      { do: "tool", payload: { kind: "started", toolCallId: "c9" } },
      {
        do: "tool",
        payload: {
          kind: "result",
          toolCallId: "c9",
          result: { content: "Command running in background with ID: exec_1" },
        },
      },
      text("started"),
    ],
    after: [
      task({ status: "running", outputTail: "a\n" }),
      until("h17-joined"),
      task({ status: "running", outputTail: "a\nb\n" }),
      task({ status: "running", outputTail: "b\nc\n" }),
      until("h17-end"),
      task({ status: "completed", outputTail: "b\nc\n" }),
    ],
  },
];

/** Terminal data of a card, in order. */
const terminal = (client: RawClient, sessionId: string): string =>
  updatesOf(client, sessionId)
    .map((update) => stringAt(objectAt(objectAt(update, "_meta"), "terminal_output"), "data") ?? "")
    .join("");

/** The messages and cards in order; what a person sees, without states. */
const seen = (transcript: Transcript): unknown => (transcript.normal() as { entries: unknown }).entries;

describe("a turn of ZCode as an editor and remote clients see it", () => {
  const stage = new ZcodeStage({ knobs: { messagesDelayMs: 500 }, prompts: PROMPTS });
  let editor: RawClient;
  const newSession = async (): Promise<string> =>
    stage.known(String((await editor.call("session/new", { cwd: stage.project, mcpServers: [] }))["sessionId"]));

  beforeAll(async () => {
    await stage.serve();
    ({ editor } = await stage.zcode({ capabilities: { _meta: { terminal_output: true } } }));
  });
  afterAll(() => stage.end());

  it("H9 B2 who loads in mid-turn gets history, then the live chunks, each once; the editor sees no replay", async () => {
    const sessionId = await newSession();
    await editor.call("session/prompt", textPrompt(sessionId, "older"));
    const turn = editor.call("session/prompt", textPrompt(sessionId, "h9"));
    await eventually("it streams", () => transcriptOf(editor, sessionId).text().endsWith("two "));
    const phone = await stage.phone();
    const before = updatesOf(editor, sessionId).length;
    const loading = phone.load(sessionId);
    stage.fake.go("h9");
    const meta = await loading;
    expect(meta.turnActive).toBe(true);
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    await eventually("the phone has all", () => phone.text.endsWith("four"));
    expect(phone.text).toBe("older answerone two three four");
    expect(seen(phone.transcript)).toEqual(
      expect.arrayContaining([expect.objectContaining({ text: "one two three four" })]),
    );
    const live = updatesOf(editor, sessionId).slice(before);
    const chunks = live.filter((update) => update["sessionUpdate"] === "agent_message_chunk");
    expect(chunks.map((update) => stringAt(objectAt(update, "content"), "text"))).toEqual(["three ", "four"]);
    await eventually("the phone hears of the end", () => phone.order.at(-1) === "running:false");
  });

  it("H10 a phone that drops in mid-turn and comes back has what the editor has: no gap, nothing twice", async () => {
    const sessionId = await newSession();
    const first = await stage.phone();
    await first.load(sessionId);
    const cursorClient = await stage.remote();
    await cursorClient.call("session/load", loadOf(sessionId));
    const turn = editor.call("session/prompt", textPrompt(sessionId, "h10"));
    await eventually("the half is there", () => first.transcript.card("c_tool")?.["status"] === "in_progress");
    await eventually("and here", () => transcriptOf(cursorClient, sessionId).card("c_tool") !== undefined);
    first.drop();
    const stamp = readStamp(cursorClient.notifications("session/update").at(-1));
    cursorClient.close();
    stage.fake.go("h10");
    const isPlanned = (): boolean => transcriptOf(editor, sessionId).states.has("plan");
    await eventually("the plan is there", isPlanned);
    const second = await stage.phone();
    expect(await second.load(sessionId)).toMatchObject({ turnActive: true });
    const back = await stage.remote();
    const cursor = { epoch: stamp?.epoch ?? "", seq: stamp?.seq ?? 0 };
    const loaded = await back.call("session/load", loadOf(sessionId, { cursor }));
    expect(objectAt(objectAt(loaded, "_meta"), "acp-hub")?.["verdict"]).toBe("ok");
    stage.fake.go("h10-end");
    await turn;
    await eventually("the phone has all", () => second.text.endsWith("last words"));
    expect(second.text).toBe("first half, second half. last words");
    const whole = transcriptOf(editor, sessionId);
    // The editor shows its own prompt from its own input; the phone shows it from the echo.
    const withoutPrompt = (seen(second.transcript) as { role?: string }[]).filter(
      (entry) => entry.role !== "user_message_chunk",
    );
    expect(withoutPrompt).toEqual(seen(whole));
    expect(second.transcript.card("c_tool")).toMatchObject({ status: "completed" });
    expect(JSON.stringify(second.transcript.card("c_tool"))).toContain("file.txt");
    expect(second.transcript.states.get("plan")).toEqual(whole.states.get("plan"));
    const union = transcriptOf(cursorClient, sessionId);
    for (const update of updatesOf(back, sessionId)) union.apply(update, undefined);
    await eventually("the reader by cursor has all", () => transcriptOf(back, sessionId).text().endsWith("last words"));
    expect(`${transcriptOf(cursorClient, sessionId).text()}${transcriptOf(back, sessionId).text()}`).toBe(second.text);
  });

  it("H17 a background command goes on over the end of its turn, for a client that never saw its launch too", async () => {
    const sessionId = await newSession();
    const witness = await stage.remote();
    await witness.call("session/load", loadOf(sessionId));
    await editor.call("session/prompt", textPrompt(sessionId, "h17"));
    await eventually("it runs", () => terminal(editor, sessionId) === "a\n");
    const phone = await stage.phone();
    const meta = await phone.load(sessionId);
    expect(meta.turnActive).toBe(false);
    const joined = await stage.remote();
    await joined.call("session/load", loadOf(sessionId));
    expect(phone.transcript.card("c9")).toMatchObject({ status: "in_progress", title: "Bash: make" });
    stage.fake.go("h17-joined");
    await eventually("the tail slides", () => terminal(editor, sessionId) === "a\nb\nc\n");
    stage.fake.go("h17-end");
    await eventually("it ends", () => phone.transcript.card("c9")?.["status"] === "completed");
    for (const client of [editor, witness, joined]) {
      await eventually("it ends here", () => transcriptOf(client, sessionId).card("c9")?.["status"] === "completed");
      expect(terminal(client, sessionId)).toBe("a\nb\nc\n");
      const cards = updatesOf(client, sessionId).filter((update) => update["sessionUpdate"] === "tool_call");
      expect(cards.map((card) => card["toolCallId"])).toEqual(["c9"]);
      const exit = objectAt(objectAt(transcriptOf(client, sessionId).card("c9"), "_meta"), "terminal_exit");
      expect(exit?.["exit_code"]).toBe(0);
    }
    expect(phone.running.get(sessionId) ?? false).toBe(false);
  });
});
