import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { DESK } from "../support/browser.ts";
import { COMMAND_ASK, fillSession, NEW_CODE, OLD_CODE } from "../support/fake-scenes.ts";
import { setHubStage } from "../support/hub-stage.ts";
import { openSession, textPrompt } from "../support/stage.ts";
import { setStage } from "../support/web-stage.ts";

/** How long a fact is waited for. */
const WAIT = { timeout: 15_000 };

const field = (page: Page) => page.getByLabel("Message to the agent");

/** More than anybody waits for: it is stopped. */
const LONG = "long 2000";

/** Longer than a page takes to hear that somebody ceased to write, shorter than their sign takes to fade. */
const UNFADED = { timeout: 5000 };

/** Notes from now on whether these words are ever on the page. */
async function watchFor(page: Page, words: string): Promise<() => Promise<boolean>> {
  await page.evaluate((sought) => {
    const state = Object.assign(window, { wasSeen: false });
    const look = (): void => {
      state.wasSeen ||= document.body.textContent?.includes(sought) === true;
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
    look();
  }, words);
  return () => page.evaluate(() => (window as unknown as { wasSeen: boolean }).wasSeen);
}

/** Who the menu says is there, and what they do. */
async function attended(page: Page): Promise<readonly string[]> {
  const lines = await page
    .locator(".attendant-list li")
    .evaluateAll((all) => all.map((line) => [...line.children].map((part) => part.textContent ?? "").join(" | ")));
  return lines.sort();
}

describe("presence, on the hub itself", () => {
  const stage = setHubStage();

  it("names who is attached, who types and who drives, and follows them as they come and go", async () => {
    const { editor } = stage().stage.home.bridge(["demo"]);
    const sessionId = await stage().stage.known(await openSession(editor, {}));
    const phone = await stage().open("Pixel", sessionId);
    const chip = phone.locator(".attendants");
    await expect.poll(() => chip.textContent(), WAIT).toMatch(/^\s*2 attached: /);
    const laptop = await stage().open("Laptop", sessionId, "driver", { viewport: DESK });
    await expect.poll(() => chip.textContent(), WAIT).toMatch(/^\s*3 attached: .*Laptop/);

    const wasLaptopTold = await watchFor(laptop, "is typing…");
    // The menu first: the sign of who writes fades after some seconds.
    await chip.click();
    const sign = phone.getByText("Laptop is typing…").waitFor();
    await field(laptop).pressSequentially(LONG);
    await sign;
    await expect
      .poll(() => attended(phone), WAIT)
      .toEqual(
        [expect.stringMatching(/ \| editor$/), "Laptop | typing", "Pixel | this device"].sort((a, b) =>
          String(a).localeCompare(String(b)),
        ),
      );

    await laptop.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => attended(phone), UNFADED).toContain("Laptop | drives");
    expect(await phone.getByText("is typing…").count()).toBe(0);
    await phone.getByRole("button", { name: "Close", exact: true }).click();
    await phone.getByText("Running for Laptop").waitFor();
    await laptop.locator(".turn-word", { hasText: /^Running$/ }).waitFor();
    await laptop.getByRole("button", { name: "Stop the turn" }).click();
    await phone.locator(".divider", { hasText: "Stopped" }).waitFor();
    await laptop.locator(".divider", { hasText: "Stopped" }).waitFor();
    // All of the turn has come to it by now, and what was said of its own writing before that.
    expect(await wasLaptopTold()).toBe(false);

    await laptop.close();
    await expect.poll(() => chip.textContent(), WAIT).toMatch(/^\s*2 attached: /);
  });

  it("lets the sign of somebody fade who stops without a word", async () => {
    const { editor } = stage().stage.home.bridge(["demo"]);
    const sessionId = await stage().stage.known(await openSession(editor, {}));
    const phone = await stage().open("Pixel", sessionId);
    const laptop = await stage().open("Laptop", sessionId, "driver", { viewport: DESK });
    await phone.getByText("3", { exact: false }).first().waitFor();
    await field(laptop).pressSequentially("half a th");
    await phone.getByText("Laptop is typing…").waitFor();
    await phone.getByText("Laptop is typing…").waitFor({ state: "detached" });
    expect(await field(laptop).inputValue()).toBe("half a th");
  });

  it("names the editor that drives", async () => {
    const { editor } = stage().stage.home.bridge(["demo"]);
    const sessionId = await stage().stage.known(await openSession(editor, {}));
    const phone = await stage().open("Pixel", sessionId);
    const turn = editor.call("session/prompt", textPrompt(sessionId, LONG));
    await phone.locator(".turn-word", { hasText: /^Running for / }).waitFor();
    editor.notify("session/cancel", { sessionId });
    await turn;
    await phone.locator(".turn-word", { hasText: /^Idle$/ }).waitFor();
  });
});

describe("an absence", () => {
  const stage = setStage();

  it("is summed up where it was left: turns, decisions, files, failures and cost", async () => {
    const { session, hub, open } = stage();
    fillSession(session);
    const page = await open("Pixel");
    await page.getByText("Run the tests").waitFor();
    await hub.kill();
    await page.getByRole("button", { name: /Reconnecting/ }).waitFor();

    const answer = session.ask("session/request_permission", COMMAND_ASK);
    const [id] = session.asks.keys();
    const by = { connectionId: "c9", device: "d9", name: "Zed" };
    session.settle(id ?? "", { outcome: { outcome: "selected", optionId: "once" } }, by);
    await answer;
    for (const path of ["src/a.ts", "src/b.ts"])
      session.emit({
        sessionUpdate: "tool_call",
        toolCallId: path,
        title: `Edit ${path}`,
        kind: "edit",
        status: "completed",
        content: [{ type: "diff", path, oldText: OLD_CODE, newText: NEW_CODE }],
      });
    session.emit({ sessionUpdate: "tool_call", toolCallId: "bad", title: "Build", kind: "execute", status: "failed" });
    const cost = { amount: 0.67, currency: "USD" };
    session.emit({ sessionUpdate: "usage_update", used: 60_000, size: 200_000, cost });
    session.setTurn("running");
    session.setTurn("idle", { stopReason: "end_turn" });
    session.text("All of it is done.", "m9");

    // Ten minutes pass on this device's clock, and nothing else of it.
    await page.clock.setFixedTime(Date.now() + 600_000);
    await hub.start();
    const note = page.locator('[data-mark="away"]');
    await note.waitFor();
    expect(await note.textContent()).toBe(
      "While you were away: 1 turn ended, 1 decision, 2 files changed, 1 tool failed, 0.25 USD spent",
    );
    const parts = ["Run the tests", "While you were away", "Edit src/a.ts"];
    const order = async (): Promise<readonly string[]> =>
      (await page.locator(".row").allTextContents()).flatMap((row) => parts.filter((part) => row.includes(part)));
    await expect.poll(order, WAIT).toEqual(parts);
  });

  it("of a minute is not worth a word", async () => {
    const { session, hub, open } = stage();
    session.text("before");
    const page = await open("Pixel");
    await page.getByText("before").waitFor();
    await hub.kill();
    session.emit({ sessionUpdate: "tool_call", toolCallId: "bad", title: "Build", kind: "execute", status: "failed" });
    await page.clock.setFixedTime(Date.now() + 60_000);
    await hub.start();
    await page.getByRole("button", { name: /Build/ }).waitFor();
    expect(await page.locator('[data-mark="away"]').count()).toBe(0);
  });
});

describe("a device that may only look", () => {
  const stage = setStage();

  it("reads everything, changes nothing, and is told why", async () => {
    const { session, hub, open } = stage();
    fillSession(session);
    session.setTurn("running");
    void session.ask("session/request_permission", COMMAND_ASK);
    const page = await open("Pixel", { preset: "viewer" });
    await page.getByText("Viewing only. To write here, pair this device again with “Drive”.").waitFor();
    expect(await field(page).count()).toBe(0);
    expect(await page.getByRole("button", { name: /^(Send|Add to the queue|Stop the turn)$/ }).count()).toBe(0);
    await page.getByText("This device may watch, not answer.").waitFor();
    const options = await page.locator(".option").all();
    expect(options.length).toBe(3);
    for (const option of options) expect(await option.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Session menu" }).click();
    const menu = page.getByRole("dialog");
    await menu.getByRole("button", { name: "Export as Markdown" }).waitFor();
    expect(await menu.getByLabel("Title of the session").count()).toBe(0);
    expect(await menu.getByRole("button", { name: "Close the session" }).count()).toBe(0);
    expect(await menu.getByRole("link", { name: "Files" }).count()).toBe(0);
    await page.goto(`${hub.url}#/`);
    await page.locator(".session-row").first().waitFor();
    expect(await page.getByRole("button", { name: "New session" }).count()).toBe(0);
    // What it reads is whole: cards unfold, and the stream goes on.
    await page.goto(`${hub.url}#/session/s1`);
    await page.getByRole("button", { name: /Edit pool\.ts/ }).click();
    await page.locator(".diff-line").first().waitFor();
    session.text("and it goes on", "m7");
    await page.getByRole("button", { name: "1 new" }).click();
    await page.getByText("and it goes on").waitFor();
  });
});
