import { writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { launchBrowser } from "../support/browser.ts";
import { type ForeignPages, servePages } from "../support/foreign-page.ts";
import { isRunning } from "../support/processes.ts";
import { Stage, textPrompt } from "../support/stage.ts";

const ASKING = { turns: [[{ say: "I look. " }, { ask: true }, { say: "It was $answer. " }]] };
const WAIT = { timeout: 15_000 };

/** It sends binary frames, reads text, declares nothing, cannot take a dialog back, and has no place for a token but the address. */
describe("use-acp, a real client, in a page of its own origin", () => {
  let browser: Browser;
  let pages: ForeignPages;
  let stage: Stage;
  beforeAll(async () => {
    browser = await launchBrowser();
    pages = await servePages("./use-acp-page.mjs");
  });
  afterAll(async () => {
    await browser.close();
    await pages.stop();
  });
  beforeEach(async () => {
    stage = new Stage();
    writeFileSync(stage.paths.configFile, JSON.stringify({ http: { origins: [pages.origin] } }), { mode: 0o600 });
    await stage.serve();
  });
  afterEach(() => stage.end());

  const queryToken = async (): Promise<string> => {
    const args = ["token", "create", "--scope", "driver", "--name", "use-acp", "--query"];
    return (await stage.home.run(args)).stdout.trim();
  };
  const open = async (sessionId: string, token: string, origin = pages.origin): Promise<Page> => {
    await stage.known(sessionId);
    const instance = (await stage.linked())[0]?.id;
    const wsUrl = stage.acp(`?instance=${instance}&token=${encodeURIComponent(token)}`);
    const page = await browser.newPage();
    page.setDefaultTimeout(WAIT.timeout);
    await page.goto(`${origin}/#${new URLSearchParams({ wsUrl, sessionId })}`);
    return page;
  };
  const press = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
  const shows = (page: Page, id: string) => expect.poll(() => page.locator(`#${id}`).textContent(), WAIT);
  const attach = async (page: Page, sessionId: string): Promise<void> => {
    await press(page, "Connect");
    await shows(page, "attempts").toBe("made");
    await press(page, "Attach");
    await shows(page, "session").toBe(sessionId);
  };

  it("T1 X2 prompts, shows the stream, and its Allow is the agent's answer", async () => {
    const { editor, sessionId } = await stage.share(ASKING);
    const page = await open(sessionId, await queryToken());
    await attach(page, sessionId);
    await press(page, "Send");
    const asked = await editor.nextRequest("session/request_permission");
    await shows(page, "said").toBe("I look. ");
    await press(page, "Allow");
    await shows(page, "ends").toBe("end_turn");
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toContain('"optionId":"allow"');
    await shows(page, "said").toBe(editor.textOf("agent_message_chunk"));
    await shows(page, "asked").toBe("from the page");
    expect(editor.textOf("user_message_chunk")).toBe("from the page");
    expect(await editor.nextNotification("$/cancel_request")).toMatchObject({ requestId: asked.id });
  });

  it("X4 X11 the editor is faster: the card ends all the same, and a late tap does no harm", async () => {
    const { editor, sessionId } = await stage.share(ASKING);
    const page = await open(sessionId, await queryToken());
    await attach(page, sessionId);
    const turn = editor.call("session/prompt", textPrompt(sessionId, "one"));
    const asked = await editor.nextRequest("session/request_permission");
    await page.getByRole("button", { name: "Reject", exact: true }).waitFor();
    editor.answer(asked.id, { outcome: { outcome: "selected", optionId: "reject" } });
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    await shows(page, "cards").toBe("tool-1 failed");
    // Its SDK knows no $/cancel_request: the dialog still stands there.
    await press(page, "Allow");
    await press(page, "Send");
    await editor.nextRequest("session/request_permission");
    await press(page, "Always allow");
    await shows(page, "ends").toBe("end_turn");
    await expect
      .poll(() => editor.textOf("agent_message_chunk").match(/"optionId":"\w+"/g), WAIT)
      .toEqual(['"optionId":"reject"', '"optionId":"always"']);
    await shows(page, "said").toBe(editor.textOf("agent_message_chunk"));
  });

  it("L2 X6 the hub is killed under an open question: connected again, it has everything once, and its answer counts", async () => {
    const { editor, sessionId } = await stage.share(ASKING);
    const page = await open(sessionId, await queryToken());
    const dialed = page.waitForEvent("websocket");
    await attach(page, sessionId);
    await press(page, "Send");
    await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
    const dialog = await page.locator("#dialog").textContent();
    const info = await stage.hubInfo();
    const pid = info?.pid ?? 0;
    const socket = await dialed;
    const closed = socket.waitForEvent("close");
    process.kill(pid, "SIGKILL");
    await closed;
    await expect.poll(() => isRunning(pid), WAIT).toBe(false);
    await stage.serve(["--port", String(info?.port)]);
    await stage.known(sessionId);
    await press(page, "Connect");
    await shows(page, "attempts").toBe("made made");
    await press(page, "Attach");
    await shows(page, "said").toBe("I look. ");
    // The old dialog stands until it is asked anew: it belongs to a connection that is no more.
    await shows(page, "dialog").not.toBe(dialog);
    await press(page, "Always allow");
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toContain('"optionId":"always"');
    await shows(page, "said").toBe(editor.textOf("agent_message_chunk"));
    await shows(page, "asked").toBe("from the page");
  });

  it("P2 the page is closed in the middle of its turn: the turn ends, and the next page shows all of it", async () => {
    const { editor, sessionId } = await stage.share({
      turns: [[{ say: "one " }, { waitFor: "_test/on" }, { say: "two" }]],
    });
    const token = await queryToken();
    const first = await open(sessionId, token);
    await attach(first, sessionId);
    await press(first, "Send");
    await shows(first, "said").toBe("one ");
    await first.close();
    editor.notify("_test/on", {});
    await expect.poll(async () => (await stage.instances())[0]?.sessions[0]?.status, WAIT).toBe("idle");
    const second = await open(sessionId, token);
    await attach(second, sessionId);
    await shows(second, "said").toBe("one two");
    await shows(second, "asked").toBe("from the page");
    await expect.poll(() => editor.textOf("agent_message_chunk"), WAIT).toBe("one two");
  });

  it("C2.carriers C3.devices its address takes only a token made for it, from its own origin, until it is revoked", async () => {
    const { sessionId } = await stage.share(ASKING);
    const refused = async (page: Page): Promise<void> => {
      await press(page, "Connect");
      await shows(page, "attempts").toMatch(/refused$/);
      await page.close();
    };
    await refused(await open(sessionId, await stage.token("driver")));
    const stranger = await servePages("./use-acp-page.mjs");
    const token = await queryToken();
    await refused(await open(sessionId, token, stranger.origin));
    await stranger.stop();

    const page = await open(sessionId, token);
    await attach(page, sessionId);
    const devices = (await stage.api("GET", "/api/devices")).body as { deviceId: string; name: string }[];
    const id = devices.find(({ name }) => name === "use-acp")?.deviceId;
    const connected = async (): Promise<number> => (await stage.instances())[0]?.clients ?? -1;
    await expect.poll(connected, WAIT).toBe(1);
    await stage.api("DELETE", `/api/devices/${id}`);
    await expect.poll(connected, WAIT).toBe(0);
    await refused(page);
  });
});
