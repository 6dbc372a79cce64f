import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type JsonObject, objectAt } from "../../../src/protocol/json.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { type PuppetAgent, puppetAgent } from "../../support/puppet-agent.ts";
import { type RawClient, rawClient } from "../../support/raw-client.ts";
import { type Ran, runCommand } from "../../support/run-command.ts";

const OPTIONS = [
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "once", name: "Once", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

describe("driving sessions from scripts", () => {
  let harness: HubHarness;
  let agent: PuppetAgent;
  let editor: RawClient;
  beforeEach(async () => {
    harness = await startHub({ isDurable: true });
    agent = puppetAgent();
    editor = rawClient(harness.bridge(agent.backend).editor);
    await editor.initialize({});
    await editor.call("session/new", { cwd: "/project", mcpServers: [] });
    await expect.poll(() => [...(harness.hub.registry.get("i-0")?.mirror.sessions ?? [])].length).toBe(1);
  });
  afterEach(() => harness.stop());

  const run = (name: string, ...args: string[]): Promise<Ran> =>
    runCommand(name, [...args, "--home", dirname(harness.paths.runDir)]);

  const askPermission = async (title: string): Promise<{ id: string; answer: Promise<JsonObject> }> => {
    const toolCall = { toolCallId: title, title, rawInput: { command: "rm\u001b[2J -r x" } };
    const answer = agent.ask("session/request_permission", { sessionId: "s1", toolCall, options: OPTIONS });
    // One test leaves it open: it ends with the agent.
    answer.catch(() => undefined);
    const titles = async () =>
      (await listed()).map((each) => objectAt(objectAt(each, "params"), "toolCall")?.["title"]);
    // One that was answered before may be listed a moment longer.
    await expect.poll(titles).toEqual([title]);
    return { id: String((await listed())[0]?.["interactionId"]), answer };
  };
  const listed = async (): Promise<JsonObject[]> => JSON.parse((await run("interactions", "--json")).stdout);
  const chosen = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });

  it("C1.drive interactions says what is asked, with nothing in it that could steer the terminal", async () => {
    expect(await run("interactions")).toMatchObject({ code: 0, stdout: "", stderr: "No agent waits for an answer.\n" });
    const { id } = await askPermission("remove x");
    const { stdout } = await run("interactions");
    expect(stdout).toContain(id);
    expect(stdout).toContain("remove x");
    expect(stdout).toContain("--option once Once (allow_once)");
    expect(stdout).not.toContain("\u001b");
  });

  it("C1.drive approve allows once, never for ever, and takes the beginning of an id", async () => {
    const { id, answer } = await askPermission("edit");
    expect(await run("approve", id.slice(0, -2))).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "allowed (Once): edit\n",
    });
    expect(await answer).toEqual(chosen("once"));
  });

  it("C1.drive approve and deny take an option by id or name; deny rejects once", async () => {
    const first = await askPermission("one");
    expect(await run("approve", first.id, "--option", "Always")).toMatchObject({ code: 0 });
    expect(await first.answer).toEqual(chosen("always"));
    const second = await askPermission("two");
    const denied = await run("deny", second.id, "--json");
    expect(denied).toMatchObject({ code: 0, stderr: "denied (No): two\n" });
    expect(JSON.parse(denied.stdout)).toMatchObject({ interactionId: second.id, applied: true });
    expect(await second.answer).toEqual(chosen("no"));
  });

  it("C1.exit-codes a wrong option is usage, a lost race and an unknown id are failures, no hub is 3", async () => {
    const { id, answer } = await askPermission("race");
    expect((await run("approve", id, "--option", "maybe")).code).toBe(2);
    expect((await run("approve")).code).toBe(2);
    expect((await run("approve", id, "more")).code).toBe(2);
    expect((await run("approve", "i_nothing")).code).toBe(1);
    await run("approve", id);
    await answer;
    expect((await run("approve", id)).code).toBe(1);
    const empty = mkdtempSync(join(tmpdir(), "acp-hub-nobody-"));
    for (const args of [["interactions"], ["approve", "i"], ["deny", "i"], ["send", "s1", "hi"], ["sessions"]])
      expect(await runCommand(args[0] ?? "", [...args.slice(1), "--home", empty])).toMatchObject({
        code: 3,
        stdout: "",
      });
    rmSync(empty, { recursive: true });
  });

  it("C1.drive a form is accepted with its content or declined", async () => {
    const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const form = { sessionId: "s1", mode: "form", message: "who?", requestedSchema };
    const first = agent.ask("elicitation/create", form);
    await expect.poll(async () => (await listed()).length).toBe(1);
    const [open] = await listed();
    expect((await run("interactions")).stdout).toContain("name (required)");
    expect((await run("approve", String(open?.["interactionId"]))).code).toBe(1);
    expect((await run("approve", String(open?.["interactionId"]), "--content", "[1]")).code).toBe(2);
    await run("approve", String(open?.["interactionId"]), "--content", '{"name":"ada"}');
    expect(await first).toEqual({ action: "accept", content: { name: "ada" } });
    const second = agent.ask("elicitation/create", { ...form, message: "who else?" });
    const messages = async () => (await listed()).map((each) => objectAt(each, "params")?.["message"]);
    await expect.poll(messages).toEqual(["who else?"]);
    await run("deny", String((await listed())[0]?.["interactionId"]));
    expect(await second).toEqual({ action: "decline" });
  });

  it("C1.drive send prompts a session and prints how its turn ended", async () => {
    agent.on("session/prompt", () => ({ stopReason: "max_tokens" }));
    expect(await run("send", "s1", "hello", "there")).toEqual({ code: 0, stdout: "max_tokens\n", stderr: "" });
    expect(agent.calls.at(-1)?.params).toMatchObject({ prompt: [{ type: "text", text: "hello there" }] });
    expect(editor.textOf("user_message_chunk")).toBe("hello there");
    expect(await run("send", "s1")).toMatchObject({ code: 2 });
    expect(await run("send", "nobody", "hi")).toMatchObject({ code: 1, stdout: "" });
  });

  it("C1.drive send --no-wait ends when the prompt is accepted, and the turn goes on", async () => {
    agent.on("session/prompt", () => undefined);
    const sent = await run("send", "s1", "long", "--no-wait", "--json");
    expect(sent.code).toBe(0);
    expect(JSON.parse(sent.stdout)).toMatchObject({ sessionId: "s1", state: "accepted" });
    const queued = await run("send", "s1", "next", "--no-wait");
    expect(queued).toEqual({ code: 0, stdout: "accepted\n", stderr: "" });
    expect(agent.calls.filter((call) => call.method === "session/prompt")).toHaveLength(1);
  });

  it("P3 C1.drive send outlives a hub that is restarted under it: its prompt runs once", async () => {
    agent.on("session/prompt", () => undefined);
    const sent = run("send", "s1", "through a restart");
    await expect.poll(() => agent.calls.filter((call) => call.method === "session/prompt").length).toBe(1);
    await harness.restart();
    const asked = await agent.wire.nextRequest("session/prompt");
    await expect.poll(() => harness.hub.sockets.count).toBe(1);
    agent.wire.answer(asked.id, { stopReason: "end_turn" });
    expect(await sent).toEqual({ code: 0, stdout: "end_turn\n", stderr: "" });
    expect(agent.calls.filter((call) => call.method === "session/prompt")).toHaveLength(1);
  });

  it("C1.drive sessions lists and searches what was said", async () => {
    agent.on("session/prompt", () => ({ stopReason: "end_turn" }));
    await editor.call("session/prompt", { sessionId: "s1", prompt: [{ type: "text", text: "find the walrus" }] });
    await expect.poll(async () => (await run("sessions", "walrus")).stdout).toContain("s1");
    expect(JSON.parse((await run("sessions", "--json")).stdout)).toMatchObject([{ sessionId: "s1", cwd: "/project" }]);
    expect(await run("sessions", "narwhal")).toMatchObject({ code: 0, stdout: "", stderr: "No session was found.\n" });
    expect((await run("sessions", "--limit", "0")).code).toBe(2);
    expect((await run("sessions", "--state", "odd")).code).toBe(2);
  });
});
