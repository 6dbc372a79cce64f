import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { DESK } from "../support/browser.ts";
import { setHubStage } from "../support/hub-stage.ts";
import { openSession, scripted, textPrompt } from "../support/stage.ts";
import { storedKeys, workerReady } from "./in-page.ts";

const stage = setHubStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 15_000 };

const field = (page: Page) => page.getByLabel("Message to the agent");

async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await page.getByRole("button", { name: /^(Send|Add to the queue)$/ }).click();
}

const agentText = (page: Page): Promise<string> =>
  page.locator(".message.agent").evaluateAll((all) => all.map((element) => element.textContent ?? "").join(""));

/** A demo agent in an editor. */
async function demo(capabilities: JsonObject = {}) {
  const { editor, child } = stage().stage.home.bridge(["demo"]);
  const sessionId = await stage().stage.known(await openSession(editor, capabilities));
  return { editor, child, sessionId };
}

describe("the app on the hub itself", () => {
  it("pairs, finds the editor's session and watches its turn", async () => {
    const { editor, sessionId } = await demo();
    const page = await stage().device("Pixel");
    await editor.call("session/prompt", textPrompt(sessionId, "hello"));
    await page.locator(".session-row", { hasText: "hello" }).first().click();
    await page.getByText("This is the demo agent").waitFor();
    await page.locator(".divider", { hasText: "Done" }).waitFor();
    const turn = editor.call("session/prompt", textPrompt(sessionId, "plan"));
    await page.locator(".plan").waitFor();
    await turn;
    await page.getByText("Live").first().waitFor();
  });

  it("X2 approves on the phone; the editor's dialog is dismissed and the desk's card folds", async () => {
    const { editor, sessionId } = await demo();
    const phone = await stage().open("Pixel", sessionId);
    const desk = await stage().open("Laptop", sessionId, "driver", { viewport: DESK });
    const turn = editor.call("session/prompt", textPrompt(sessionId, "diff"));
    const asked = await editor.nextRequest("session/request_permission");
    await desk.locator(".sheet .option[data-kind='allow_once']").waitFor();
    await phone.locator(".sheet .diff-line").first().waitFor();
    await phone.locator(".sheet .option[data-kind='allow_once'][aria-disabled='false']").click();
    await phone.getByText(/Allowed by this device/).waitFor();
    await desk
      .getByText(/Allowed by Pixel/)
      .first()
      .waitFor();
    await expect.poll(() => desk.locator(".sheet .option").count()).toBe(0);
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    await expect.poll(() => editor.notifications("$/cancel_request"), WAIT).toMatchObject([{ requestId: asked.id }]);
  });

  it("X4 says that the editor was faster", async () => {
    const { editor, sessionId } = await demo();
    const phone = await stage().open("Pixel", sessionId);
    const turn = editor.call("session/prompt", textPrompt(sessionId, "diff"));
    const asked = await editor.nextRequest("session/request_permission");
    await phone.locator(".sheet .option[data-kind='reject_once']").waitFor();
    editor.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow-once" } });
    await phone
      .getByText(/Allowed by/)
      .first()
      .waitFor();
    await expect.poll(() => phone.locator(".sheet .option").count()).toBe(0);
    await turn;
  });

  it("answers a form", async () => {
    const { sessionId } = await demo();
    const phone = await stage().open("Pixel", sessionId);
    await say(phone, "form");
    const form = phone.locator(".question-form");
    await form.waitFor();
    for (const radios of await form.locator("fieldset:has(input[type=radio])").all())
      await radios.locator("input").first().check();
    await form.locator("button[type=submit][aria-disabled='false']").click();
    await phone.locator('[data-delivery="done"]').waitFor();
    await expect.poll(() => phone.locator(".sheet .question-form").count()).toBe(0);
  });

  it("X10 two questions at once are paged, each answered", async () => {
    const { sessionId } = await demo();
    const phone = await stage().open("Pixel", sessionId);
    await say(phone, "two");
    await phone.getByText("1 of 2").waitFor();
    for (let left = 2; left > 0; left -= 1) {
      await phone.locator(".sheet .option:not([data-kind$='always'])[aria-disabled='false']").first().click();
      await expect
        .poll(async () => ((await stage().stage.api("GET", "/api/interactions")).body as unknown[]).length, WAIT)
        .toBe(left - 1);
    }
    await phone.locator('[data-delivery="done"]').waitFor();
  });

  it("prompts with an image", async () => {
    const { sessionId } = await demo();
    const phone = await stage().open("Pixel", sessionId);
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const file = { name: "a.png", mimeType: "image/png", buffer: Buffer.from(png, "base64") };
    await phone.locator('input[type="file"]').setInputFiles(file);
    await phone.getByRole("img", { name: "Attachment 1" }).waitFor();
    await say(phone, "image");
    await phone.getByText(`image/png, ${file.buffer.length} bytes`).waitFor();
  });

  it("P1 queues behind a running turn, moves, removes, stops", async () => {
    const { sessionId } = await demo();
    const other = await stage().open("Laptop", sessionId, "driver", { viewport: DESK });
    await say(other, "long 2000");
    await other.locator('[data-turn="running"]').waitFor();
    const phone = await stage().open("Pixel", sessionId);
    await say(phone, "first in line");
    await say(phone, "second in line");
    await phone.getByRole("button", { name: "2 messages wait" }).click();
    await phone.getByRole("button", { name: "Move up: second in line" }).click();
    const titles = (): Promise<string[]> => other.locator(".queue li .truncate").allTextContents();
    await other.getByRole("button", { name: "2 messages wait" }).click();
    await expect.poll(titles, WAIT).toEqual(["Pixel second in line", "Pixel first in line"]);
    await phone.getByRole("button", { name: "Remove: first in line" }).click();
    await expect.poll(titles, WAIT).toEqual(["Pixel second in line"]);
    await other.getByRole("button", { name: "Stop the turn" }).click();
    await other.locator(".divider", { hasText: "Stopped" }).waitFor();
    await phone.locator('[data-delivery="done"]').waitFor();
  });

  it("P1 a waiting message is sent now, after it was asked whether the running turn may end", async () => {
    const { sessionId } = await demo();
    const desk = await stage().open("Laptop", sessionId, "driver", { viewport: DESK });
    await say(desk, "long 5000");
    await desk.locator('[data-turn="running"]').waitFor();
    const phone = await stage().open("Pixel", sessionId);
    await say(phone, "hello");
    await phone.getByRole("button", { name: "1 message waits" }).click();
    await desk.getByRole("button", { name: "1 message waits" }).click();
    await desk.locator(".queue li", { hasText: "hello" }).waitFor();
    expect(await desk.getByRole("button", { name: /^Send now/ }).count()).toBe(0);
    await phone.getByRole("button", { name: "Send now: hello" }).click();
    await phone.getByRole("button", { name: "Let it finish" }).click();
    await phone.getByRole("button", { name: "Send now: hello" }).click();
    await phone.getByRole("button", { name: "Stop and send now" }).click();
    await desk.locator(".divider", { hasText: "Stopped" }).waitFor();
    await phone.locator('[data-delivery="done"]').waitFor();
    await expect.poll(() => phone.locator('[data-delivery="done"]').count()).toBe(1);
  });

  it("L2 a hub killed in mid-stream: nothing is lost or doubled on screen", async () => {
    const script = { turns: [[{ stream: { count: 500, everyMs: 10, messageId: "m1" } }, { say: " THE END" }]] };
    const { editor, sessionId } = await stage().stage.share(script);
    await stage().stage.known(sessionId);
    const phone = await stage().open("Pixel", sessionId);
    const turn = editor.call("session/prompt", textPrompt(sessionId, "go"));
    await expect.poll(() => agentText(phone), WAIT).toContain("40 x");
    await stage().kill();
    await phone.getByRole("button", { name: /Reconnecting/ }).waitFor();
    await stage().revive();
    await turn;
    await phone.getByText("THE END").waitFor();
    const said = editor.textOf("agent_message_chunk").replaceAll(/\s+/g, " ");
    expect((await agentText(phone)).replaceAll(/\s+/g, " ")).toBe(said);
  });

  it("reads the last transcript without a hub, and catches up when it is back", async () => {
    const { editor, sessionId } = await demo();
    await editor.call("session/prompt", textPrompt(sessionId, "hello"));
    const phone = await stage().open("Pixel", sessionId);
    await phone.getByText("This is the demo agent").waitFor();
    await workerReady(phone);
    // What is on screen is kept when the page is hidden at the latest.
    await phone.goto(`${stage().url}#/`);
    await expect.poll(() => storedKeys(phone), WAIT).toContain(`session/${sessionId}`);
    await stage().kill();
    await phone.goto(`${stage().url}#/session/${sessionId}`);
    await phone.reload();
    await phone.getByText("This is the demo agent").waitFor();
    await phone.getByRole("button", { name: /as of \d\d:\d\d/ }).waitFor();
    await stage().revive();
    await phone.locator('.session[data-attach="live"]').waitFor();
    expect(await phone.getByText("This is the demo agent").count()).toBe(1);
  });

  it("S9 a session that went on in another editor leads there; the list is read once and says what was said last", async () => {
    const script = { load: { replay: [] }, turns: [[{ think: "hm" }, { say: "It is\n" }, { say: "done." }]] };
    for (const name of ["Zed", "Emacs"]) {
      const { editor } = stage().stage.home.bridge(scripted(script));
      await editor.call("initialize", { protocolVersion: 1, clientInfo: { name }, clientCapabilities: {} });
      await editor.call("session/load", { sessionId: "both", cwd: "/", mcpServers: [] });
      await editor.call("session/prompt", textPrompt("both", `to ${name}`));
    }
    // All of it has come to the hub: else it would tell of more while the page reads.
    const heard = async () =>
      (await stage().stage.instances()).flatMap(({ sessions }) =>
        sessions.map(({ lastText, status, superseded }) => [lastText, status, superseded]),
      );
    await expect.poll(heard, WAIT).toEqual(
      expect.arrayContaining([
        ["done.", "idle", true],
        ["done.", "idle", undefined],
      ]),
    );
    const phone = await stage().device("Pixel");
    await phone
      .locator(".session-row-line", { hasText: /^done\.$/ })
      .first()
      .waitFor();
    const asked: string[] = [];
    phone.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await phone.reload();
    await phone.locator('[data-hub="open"]').waitFor();
    await phone
      .locator(".session-row-line", { hasText: /^done\.$/ })
      .first()
      .waitFor();
    await phone.getByText("Continued elsewhere (1)").click();
    await phone.locator(".elsewhere .session-row", { hasText: "Continues in Emacs" }).click();
    // The title may say the same by now.
    await phone.getByRole("log").getByText("to Emacs").waitFor();
    expect(asked.filter((path) => path === "/api/instances" || path === "/api/interactions")).toHaveLength(2);
  });

  it("a revoked device is cut off at once", async () => {
    const { sessionId } = await demo();
    const phone = await stage().open("Pixel", sessionId);
    const devices = (await stage().stage.api("GET", "/api/devices")).body as { deviceId: string; name: string }[];
    const id = devices.find((device) => device.name === "Pixel")?.deviceId;
    await stage().stage.api("DELETE", `/api/devices/${id}`);
    await phone.getByText("This device is no longer paired").waitFor({ timeout: 10_000 });
  });

  it("a closed session stays readable, and its history is found by its words", async () => {
    const { editor, child, sessionId } = await demo();
    await editor.call("session/prompt", textPrompt(sessionId, "hello"));
    const phone = await stage().device("Pixel");
    await phone.locator(".session-row").first().waitFor();
    child.stdin?.end();
    await new Promise((resolve) => child.once("exit", resolve));
    await stage().stage.linked(0);
    await phone.getByLabel("Search sessions").fill("several clients watch");
    await phone.locator(".session-row", { hasText: "hello" }).click();
    await phone.getByText("This is the demo agent").waitFor();
    await phone.getByText("History only: no agent runs behind this session.").waitFor();
  });

  it("starts a session, shows files only where allowed, and diagnoses itself", async () => {
    await demo();
    const phone = await stage().device("Pixel", "owner");
    await phone.getByRole("button", { name: "New session" }).click();
    await phone.getByRole("dialog").locator(".menu button").first().click();
    await phone.locator('.session[data-attach="live"]').waitFor();
    await say(phone, "hello");
    await phone.locator('[data-delivery="done"]').waitFor();
    await phone.goto(`${stage().url}#/diagnostics`);
    await phone.locator(".page-body[aria-busy='false']").waitFor();
    const local = "Stays on this computer (localhost)";
    for (const name of ["Hub reachable", local, "Live connection", "Frames are not held back", "Clocks agree"]) {
      await expect.poll(() => phone.locator("li", { hasText: name }).first().getAttribute("data-check")).toBe("ok");
    }
    await phone.goto(`${stage().url}#/devices`);
    await phone.getByText("this device", { exact: true }).waitFor();
  });
});
