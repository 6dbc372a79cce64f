import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { FakePrompt } from "../support/fake-hub-session.ts";
import { fillSession } from "../support/fake-scenes.ts";
import { setStage } from "../support/web-stage.ts";
import { storedKeys, workerReady } from "./in-page.ts";

const stage = setStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 10_000 };

/** A turn that ends when the test says so. */
class HeldTurn {
  end: (stopReason: string) => void = () => undefined;
  readonly started: Promise<FakePrompt>;
  readonly #ended = new Promise<string>((resolve) => {
    this.end = resolve;
  });
  #begin: (prompt: FakePrompt) => void = () => undefined;

  constructor() {
    this.started = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  readonly run = (prompt: FakePrompt): Promise<string> => {
    this.#begin(prompt);
    return this.#ended;
  };
}

const field = (page: Page) => page.getByLabel("Message to the agent");

async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await page.getByRole("button", { name: /^(Send|Add to the queue)$/ }).click();
}

/** What the device keeps of the session's draft, as JSON. */
const keptDraft = (page: Page): Promise<string> =>
  page.evaluate(
    () =>
      new Promise((done) => {
        const opened = indexedDB.open("acp-hub", 1);
        opened.onsuccess = () => {
          const value = opened.result.transaction("values").objectStore("values").get("draft/s1");
          value.onsuccess = () => done(JSON.stringify(value.result ?? ""));
        };
      }),
  );

const bubbles = (page: Page): Promise<string[]> => page.locator(".message.user .bubble").allTextContents();

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const preview = (page: Page) => page.getByRole("img", { name: "Attachment 1" });

async function attach(page: Page): Promise<void> {
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: "a.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") });
  await preview(page).waitFor();
}

describe("composer", () => {
  it("marks a prompt from the device to done, and shows it once", async () => {
    const { session, open } = stage();
    const turn = new HeldTurn();
    session.onPrompt = turn.run;
    const page = await open("Pixel");
    await say(page, "Fix it");
    await page.locator('[data-delivery="started"]').waitFor();
    await page.locator('[data-turn="running"]').waitFor();
    turn.end("end_turn");
    await page.locator('[data-delivery="done"]').waitFor();
    expect(await bubbles(page)).toEqual(["Fix it"]);
    await page.reload();
    await page.locator('.session[data-attach="live"]').waitFor();
    await expect.poll(() => bubbles(page), WAIT).toEqual(["Fix it"]);
  });

  it("B3 shows the author to everyone else", async () => {
    const { session, open } = stage();
    session.onPrompt = () => Promise.resolve("end_turn");
    const phone = await open("Pixel");
    const desk = await open("Laptop", { viewport: { width: 1280, height: 800 } });
    await say(phone, "from the phone");
    await desk.locator(".message.user", { hasText: "from the phone" }).getByText("Pixel").waitFor();
    expect(await bubbles(desk)).toEqual(["from the phone"]);
  });

  it("sends an image with the text", async () => {
    const { session, open } = stage();
    const turn = new HeldTurn();
    session.onPrompt = turn.run;
    const page = await open("Pixel");
    await attach(page);
    await say(page, "What is this?");
    expect((await turn.started).blocks).toEqual([
      { type: "image", mimeType: "image/png", data: PNG },
      { type: "text", text: "What is this?" },
    ]);
    await page.locator(".bubble img").waitFor();
    turn.end("end_turn");
  });

  it("queues behind a running turn, moves, removes, and stops", async () => {
    const { session, open } = stage();
    const turn = new HeldTurn();
    session.onPrompt = (prompt) => {
      prompt.connection.onCancel = () => turn.end("cancelled");
      return turn.run(prompt);
    };
    const page = await open("Pixel");
    await say(page, "first");
    await turn.started;
    await say(page, "second");
    await say(page, "third");
    await page.getByRole("button", { name: "2 messages wait" }).click();
    await page.getByRole("button", { name: "Move up: third" }).click();
    await expect.poll(() => session.queueView().map((entry) => entry.title), WAIT).toEqual(["third", "second"]);
    await page.getByRole("button", { name: "Remove: second" }).click();
    await page.getByRole("button", { name: "1 message waits" }).waitFor();
    await page.getByRole("button", { name: "Stop the turn" }).click();
    await page.locator(".divider", { hasText: "Stopped" }).first().waitFor();
    await expect.poll(() => session.runs.length, WAIT).toBe(2);
  });

  it("O1 keeps a prompt typed while the hub is away and sends it once", async () => {
    const { session, hub, open } = stage();
    const page = await open("Pixel");
    await workerReady(page);
    await hub.kill();
    await page.getByRole("button", { name: /Reconnecting/ }).waitFor();
    await say(page, "later");
    await page.locator('[data-delivery="phone"]').waitFor();
    await expect.poll(() => storedKeys(page), WAIT).toContainEqual(expect.stringMatching(/^outbox\//));
    await page.reload();
    await page.locator('[data-delivery="phone"]').waitFor();
    await hub.start();
    await page.locator('[data-delivery="done"]').waitFor();
    expect(session.runs).toHaveLength(1);
    expect(await bubbles(page)).toEqual(["later"]);
  });

  it("P3 a link lost in the middle of a turn: the prompt is not run again and ends as done", async () => {
    const { session, hub, open } = stage();
    const turn = new HeldTurn();
    session.onPrompt = turn.run;
    const page = await open("Pixel");
    await say(page, "once");
    await turn.started;
    await hub.kill();
    await page.getByRole("button", { name: /Reconnecting/ }).waitFor();
    await hub.start();
    await page.locator('.session[data-attach="live"]').waitFor();
    turn.end("end_turn");
    await page.locator('[data-delivery="done"]').waitFor();
    expect(session.runs).toHaveLength(1);
    expect(await bubbles(page)).toEqual(["once"]);
  });

  it("offers the agent's commands by keyboard and by tap", async () => {
    const { session, open } = stage();
    fillSession(session);
    const page = await open("Laptop", { viewport: { width: 1280, height: 800 } });
    await field(page).fill("/");
    await page.locator(".suggestions [role=option]").first().waitFor();
    expect(await page.locator(".suggestions [role=option]").allTextContents()).toEqual([
      "/review Review the changes of this branch",
      "/test Run the tests and explain what fails",
      "/plan Only say what would be done",
    ]);
    await field(page).press("ArrowDown");
    await field(page).press("Enter");
    await expect.poll(() => field(page).inputValue()).toBe("/test ");
    await field(page).fill("/pl");
    await page.getByRole("option", { name: /plan/ }).click();
    await expect.poll(() => field(page).inputValue()).toBe("/plan ");
  });

  it("finds a file after @ and sends it as a link where it stands in the text", async () => {
    const { hub, session, open } = stage();
    for (const path of ["src/pool.ts", "src/pool.test.ts", "docs/pool.md", "README.md"]) hub.files.set(path, "x");
    const turn = new HeldTurn();
    session.onPrompt = turn.run;
    const page = await open("Laptop", { viewport: { width: 1280, height: 800 }, isTouch: false });
    await field(page).pressSequentially("mail a@b.c, look at @pool");
    const options = page.locator(".suggestions [role=option]");
    await expect.poll(() => options.count(), WAIT).toBe(3);
    await field(page).press("ArrowDown");
    await field(page).press("Enter");
    const chosen = (await field(page).inputValue()).replace("mail a@b.c, look at @", "").trim();
    expect(["src/pool.ts", "src/pool.test.ts", "docs/pool.md"]).toContain(chosen);
    await expect.poll(() => options.count()).toBe(0);
    await field(page).pressSequentially("please");
    await expect.poll(() => keptDraft(page), WAIT).toContain("please");
    await page.reload();
    await expect.poll(() => field(page).inputValue(), WAIT).toBe(`mail a@b.c, look at @${chosen} please`);
    await field(page).press("Enter");
    expect((await turn.started).blocks).toEqual([
      { type: "text", text: "mail a@b.c, look at " },
      { type: "resource_link", uri: `file:///work/relay/${chosen}`, name: chosen },
      { type: "text", text: " please" },
    ]);
    const chip = page.locator(".message.user .mention");
    await expect.poll(() => chip.textContent()).toBe(chosen.split("/").at(-1));
    expect(await chip.getAttribute("href")).toContain("#/files/s1");
    turn.end("end_turn");
  });

  it("sends the text of a file to an agent that takes it, by touch alone", async () => {
    const { hub, session, open } = stage();
    hub.takesTexts = true;
    hub.files.set("src/pool.ts", "export const a = 1;");
    hub.files.set("logo.bin", "\u0000\u0001");
    const turn = new HeldTurn();
    session.onPrompt = turn.run;
    const page = await open("Pixel");
    await page.getByRole("button", { name: "Mention a file" }).tap();
    await page.getByRole("option", { name: /pool\.ts/ }).tap();
    await expect.poll(() => field(page).inputValue()).toBe("@src/pool.ts ");
    await page.getByRole("button", { name: "Mention a file" }).tap();
    await page.getByRole("option", { name: /logo\.bin/ }).tap();
    await page.getByRole("button", { name: "Send", exact: true }).tap();
    expect((await turn.started).blocks).toEqual([
      { type: "resource", resource: { uri: "file:///work/relay/src/pool.ts", text: "export const a = 1;" } },
      { type: "text", text: " " },
      { type: "resource_link", uri: "file:///work/relay/logo.bin", name: "logo.bin" },
      { type: "text", text: " " },
    ]);
    await expect.poll(() => page.locator(".message.user .mention").allTextContents()).toEqual(["pool.ts", "logo.bin"]);
    turn.end("end_turn");
  });

  it("a file whose word was deleted is not sent, and one nobody can read is not offered", async () => {
    const { hub, session, open } = stage();
    hub.files.set("src/pool.ts", "x");
    const page = await open("Pixel");
    await field(page).pressSequentially("@po");
    await page.getByRole("option", { name: /pool\.ts/ }).tap();
    await field(page).fill("never mind");
    await page.getByRole("button", { name: "Send", exact: true }).tap();
    await page.locator('[data-delivery="done"]').waitFor();
    expect(session.runs).toHaveLength(1);
    expect(await bubbles(page)).toEqual(["never mind"]);
    await field(page).fill("@zzz");
    await page.getByText("No such file").waitFor();
  });

  it("changes modes and shows what another client changed", async () => {
    const { session, open } = stage();
    fillSession(session);
    const page = await open("Pixel");
    const before = session.journal.tail;
    await page.locator("select[title=Mode]").selectOption("auto");
    // The select shows what the hub confirmed, so it follows the answer, not the tap.
    await expect.poll(() => page.locator("select[title=Mode]").inputValue(), WAIT).toBe("auto");
    await expect.poll(() => session.journal.tail, WAIT).toBe(before + 1);
    session.emit({ sessionUpdate: "current_mode_update", currentModeId: "ask" });
    await expect.poll(() => page.locator("select[title=Mode]").inputValue(), WAIT).toBe("ask");
  });

  it("keeps a draft per session over a reload", async () => {
    const { hub, instance, open } = stage();
    hub.addSession(instance, "s2", "Another");
    const page = await open("Pixel");
    await field(page).fill("half a thought");
    await page.goto(`${hub.url}#/session/s2`);
    await expect.poll(() => field(page).inputValue(), WAIT).toBe("");
    await page.goto(`${hub.url}#/session/s1`);
    await expect.poll(() => keptDraft(page), WAIT).toContain("half a thought");
    await page.reload();
    await expect.poll(() => field(page).inputValue(), WAIT).toBe("half a thought");
  });

  it("keeps the images of a draft, too, and gives them back with a message that is edited", async () => {
    const { hub, session, instance, open } = stage();
    hub.addSession(instance, "s2", "Another");
    const turn = new HeldTurn();
    session.onPrompt = turn.run;
    const page = await open("Pixel");
    await attach(page);
    await page.goto(`${hub.url}#/session/s2`);
    await page.getByRole("heading", { name: "Another" }).waitFor();
    await page.getByRole("button", { name: "Attach an image" }).waitFor();
    expect(await preview(page).count()).toBe(0);
    await page.goto(`${hub.url}#/session/s1`);
    await preview(page).waitFor();
    await expect.poll(() => keptDraft(page), WAIT).toContain(PNG);
    await page.reload();
    await preview(page).waitFor();
    await say(page, "first");
    await turn.started;
    expect(await preview(page).count()).toBe(0);
    await expect.poll(() => keptDraft(page), WAIT).toBe('""');
    await attach(page);
    await say(page, "second");
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await preview(page).waitFor();
    await expect.poll(() => field(page).inputValue()).toBe("second");
    await page.getByRole("button", { name: "Remove attachment 1" }).click();
    expect(await preview(page).count()).toBe(0);
    turn.end("end_turn");
  });

  it("offers to stop only what a stop would reach", async () => {
    const { session, hub, open } = stage();
    session.onPrompt = new HeldTurn().run;
    const page = await open("Pixel");
    await say(page, "first");
    const stop = page.getByRole("button", { name: "Stop the turn" });
    await stop.waitFor();
    await expect.poll(() => stop.isEnabled()).toBe(true);
    await hub.kill();
    await page.getByRole("button", { name: /Reconnecting/ }).waitFor();
    await expect.poll(() => stop.isEnabled(), WAIT).toBe(false);
  });

  it("starts a session with a running agent", async () => {
    const { hub, device } = stage();
    const page = await device("Pixel");
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByRole("dialog").getByRole("button", { name: /relay/ }).first().click();
    await page.locator('.session[data-attach="live"]').waitFor();
    await say(page, "hello there");
    await page.locator('[data-delivery="done"]').waitFor();
    expect([...hub.sessions()].map((session) => session.runs.length)).toEqual([0, 1]);
  });

  it("Enter makes a line on a touch keyboard and sends on a desk", async () => {
    const { session, open } = stage();
    const phone = await open("Pixel");
    await field(phone).fill("one");
    await field(phone).press("Enter");
    await expect.poll(() => field(phone).inputValue()).toBe("one\n");
    const desk = await open("Laptop", { viewport: { width: 1280, height: 800 }, isTouch: false });
    await field(desk).fill("two");
    await field(desk).press("Enter");
    await desk.locator('[data-delivery="done"]').waitFor();
    expect(session.runs).toHaveLength(1);
  });
});
