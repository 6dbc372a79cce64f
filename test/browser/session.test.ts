import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { fillSession } from "../support/fake-scenes.ts";
import { setStage } from "../support/web-stage.ts";
import { framePainted, restOf, storedKeys, workerReady } from "./in-page.ts";

const stage = setStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 10_000 };

const agentText = (page: Page): Promise<string> =>
  page.locator(".message.agent").evaluateAll((all) => all.map((element) => element.textContent ?? "").join("|"));

const isAtEnd = (page: Page): Promise<boolean> =>
  page.locator(".transcript").evaluate((list) => list.scrollTop + list.clientHeight >= list.scrollHeight - 40);

describe("reload everything", () => {
  it("says what had been missing", async () => {
    const { session, open } = stage();
    session.text("first", "m1");
    const page = await open("Pixel");
    await page.getByText("first").waitFor();
    const attached = [...session.attached];
    session.attached.clear();
    session.text("never arrived", "m2");
    for (const connection of attached) session.attached.add(connection);
    await page.getByRole("button", { name: "Session menu" }).click();
    await page.getByRole("button", { name: "Reload everything" }).click();
    await page.getByText("Loaded anew: 1 new.").waitFor();
    await page.getByRole("button", { name: "Reload everything" }).click();
    await page.getByText("Loaded anew: nothing was missing.").waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByText("never arrived").waitFor();
  });
});

describe("a change of several files", () => {
  it("is coloured, lists its files with what changes in each, and leads to them", async () => {
    const { session, open } = stage();
    const long = Array.from({ length: 60 }, (_, index) => `const a${index} = ${index};`).join("\n");
    const parts = ["src/a.ts", "src/b.ts", "src/c.ts"].map((path) => ({
      type: "diff",
      path,
      oldText: `${long}\n`,
      newText: `${long.replaceAll("const", "let")}\n`,
    }));
    session.emit({
      sessionUpdate: "tool_call",
      toolCallId: "e1",
      kind: "edit",
      status: "completed",
      title: "Edit",
      content: parts,
    });
    const page = await open("Pixel");
    await page.getByRole("button", { name: "Edit", exact: false }).first().click();
    const files = page.getByRole("navigation", { name: "3 files" }).getByRole("button");
    await expect.poll(() => files.allTextContents()).toEqual(parts.map(({ path }) => `${path}lines +60 −60`));
    await page.locator(".diff .hljs-number").first().waitFor();
    await files.nth(2).click();
    const third = page.locator(".diff").nth(2);
    await expect
      .poll(
        () =>
          third.locator("figcaption").evaluate((head) => {
            const { left, top, height } = head.getBoundingClientRect();
            return head.contains(document.elementFromPoint(left + 20, top + height / 2));
          }),
        WAIT,
      )
      .toBe(true);
    await expect.poll(() => third.evaluate((diff) => diff.contains(document.activeElement))).toBe(true);
  });
});

describe("session", () => {
  it("shows a stream as it comes and sticks to the end", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    for (let index = 0; index < 60; index += 1) session.text(`line ${index}\n\n`);
    await page.getByText("line 59").waitFor();
    await expect.poll(() => isAtEnd(page), WAIT).toBe(true);
  });

  it("stays where the reader is, counts what is new, and goes to the end on a tap", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    for (let index = 0; index < 40; index += 1) session.text(`message ${index}`, `m${index}`);
    await page.getByText("message 39").waitFor();
    await expect.poll(() => isAtEnd(page), WAIT).toBe(true);
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -600);
    await page.getByRole("button", { name: "To the end" }).waitFor();
    await expect.poll(() => isAtEnd(page), WAIT).toBe(false);
    const before = await restOf(page.locator(".transcript"));
    for (let index = 40; index < 43; index += 1) session.text(`message ${index}`, `m${index}`);
    await page.getByRole("button", { name: "3 new" }).waitFor();
    const after = await restOf(page.locator(".transcript"));
    expect(Math.abs(after - before)).toBeLessThan(3);
    await page.getByRole("button", { name: "3 new" }).click();
    await page.getByText("message 42").waitFor();
    await expect.poll(() => isAtEnd(page), WAIT).toBe(true);
  });

  it("lets go of the end though it has just moved there itself", async () => {
    const { session, open } = stage();
    for (let index = 0; index < 40; index += 1) session.text(`message ${index}`, `m${index}`);
    const page = await open("Pixel");
    await page.getByText("message 39").waitFor();
    await expect.poll(() => isAtEnd(page), WAIT).toBe(true);
    // A reader's wheel between that move and the browser's word of it.
    await page.locator(".transcript").evaluate((list) => {
      const watch = new MutationObserver(() => {
        if (list.textContent?.includes("message 40") !== true) return;
        watch.disconnect();
        list.dispatchEvent(new WheelEvent("wheel", { deltaY: -100 }));
      });
      watch.observe(list, { childList: true, subtree: true, characterData: true });
    });
    session.text("message 40", "m40");
    const back = page.getByRole("button", { name: "To the end" });
    await back.waitFor();
    // The browser's word comes with the next frame.
    await framePainted(page);
    expect(await back.count()).toBe(1);
  });

  it("never runs what an agent writes: HTML is text, links ask first, images are not fetched", async () => {
    const { session, open, hub } = stage();
    fillSession(session);
    const page = await open("Pixel");
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    // It was shown before anybody listened.
    await page.reload();
    await page.getByText('<script>alert("no")</script>').waitFor();
    expect(await page.locator(".message.agent script, .message.agent img, .message.agent a").count()).toBe(0);
    await page.getByRole("button", { name: "the issue" }).click();
    await page.getByRole("dialog").getByText("example.org", { exact: true }).waitFor();
    const link = page.getByRole("link", { name: "Open example.org" });
    await expect.poll(() => link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(requests.filter((url) => !url.startsWith(hub.url))).toEqual([]);
  });

  it("unfolds tool cards: diff with word marks, terminal with colours, input", async () => {
    const { session, open } = stage();
    fillSession(session);
    const page = await open("Pixel");
    await page.getByRole("button", { name: /Edit pool\.ts/ }).click();
    await page.locator(".diff-line.added .word").first().waitFor();
    await page.getByRole("button", { name: "To the end" }).click();
    await page.getByRole("button", { name: /Run the tests/ }).click();
    const terminal = page.locator(".terminal pre");
    await terminal.getByText("✓").waitFor();
    await expect.poll(() => terminal.locator(".ansi-green-fg").count()).toBeGreaterThan(0);
    await expect.poll(() => terminal.textContent()).toContain("Progress 100%");
    expect(await terminal.textContent()).not.toContain("Progress 10%P");
  });

  it("steps through the changes of a diff, and leaves long lines whole on demand", async () => {
    const { session, open } = stage();
    fillSession(session);
    const page = await open("Pixel");
    await page.getByRole("button", { name: /Edit pool\.ts/ }).click();
    const current = page.locator(".diff-line[aria-current]");
    await page.getByRole("button", { name: "Next change" }).click();
    const first = await current.textContent();
    await page.getByRole("button", { name: "Next change" }).click();
    await page.getByText("2 of 2").waitFor();
    await expect.poll(() => current.textContent()).not.toBe(first);
    await expect.poll(() => page.getByRole("button", { name: "Next change" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Previous change" }).click();
    await expect.poll(() => current.textContent()).toBe(first);
    const body = page.locator(".diff-body");
    const isWide = (): Promise<boolean> => body.evaluate((element) => element.scrollWidth > element.clientWidth);
    expect(await isWide()).toBe(false);
    await page.locator(".diff").getByRole("button", { name: "Wrap" }).click();
    await expect.poll(isWide, WAIT).toBe(true);
  });

  it("groups look-ups, folds thoughts and pins the plan", async () => {
    const { session, open } = stage();
    fillSession(session);
    const page = await open("Pixel");
    await page.getByText("Run the tests").waitFor();
    await expect.poll(() => isAtEnd(page), WAIT).toBe(true);
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -20_000);
    await page.getByRole("button", { name: /4 look-ups/ }).waitFor();
    expect(
      await page.getByRole("button", { name: /The retry logic is the first suspect/ }).getAttribute("aria-expanded"),
    ).toBe("false");
    await page.getByRole("button", { name: /Give every connection its own attempt count/ }).click();
    await page.getByText("Add a test that drops a connection").waitFor();
  });

  it("L2 a hub killed in the middle of a stream: nothing is lost, nothing is doubled on screen", async () => {
    const { session, hub, open } = stage();
    const page = await open("Pixel");
    for (let index = 0; index < 10; index += 1) session.text(`<${index}>`);
    await page.getByText("<9>").waitFor();
    await hub.kill();
    await page.getByRole("button", { name: /Reconnecting/ }).waitFor();
    for (let index = 10; index < 20; index += 1) session.text(`<${index}>`);
    await hub.start();
    await page.getByText("<19>").waitFor();
    for (let index = 20; index < 25; index += 1) session.text(`<${index}>`);
    await page.getByText("<24>").waitFor();
    expect(await agentText(page)).toBe(Array.from({ length: 25 }, (_, index) => `<${index}>`).join(""));
  });

  it("S3 tells a gap instead of guessing", async () => {
    const { session, hub, open } = stage();
    const page = await open("Pixel");
    session.text("before");
    await page.getByText("before").waitFor();
    await hub.kill();
    session.text("after", "m2");
    session.journal.limitExactness(1000, false);
    await hub.start();
    await page.getByText("Something may be missing here").waitFor();
    await expect
      .poll(() => page.locator(".row").allTextContents(), WAIT)
      .toEqual([/^before/, /^Something may be missing here/, /^after/].map((words) => expect.stringMatching(words)));
  });

  it("reads the last transcript and the list without a hub, and says how old they are", async () => {
    const { session, hub, open } = stage();
    session.text("kept for the train");
    const page = await open("Pixel");
    await page.getByText("kept for the train").waitFor();
    await workerReady(page);
    await expect.poll(() => storedKeys(page), WAIT).toEqual(expect.arrayContaining(["home", "session/s1"]));
    await hub.kill();
    await page.reload();
    await page.getByText("kept for the train").waitFor();
    await page.getByRole("button", { name: /as of \d\d:\d\d/ }).waitFor();
    await page.goto(`${hub.url}#/`);
    await page.getByText("Fix hanging clients").waitFor();
    await page.getByText(/What you see is as of/).waitFor();
  });

  it("shows what the device kept before a slow hub has answered, and no more than it may do", async () => {
    const { session, open } = stage();
    session.text("kept for the train");
    const page = await open("Pixel", { preset: "viewer" });
    await page.getByText("kept for the train").waitFor();
    await expect.poll(() => storedKeys(page), WAIT).toEqual(expect.arrayContaining(["home", "session/s1"]));
    await page.addInitScript(() => {
      const own = globalThis.fetch;
      globalThis.fetch = (input, init) =>
        String(input).includes("/api/") ? new Promise(() => undefined) : own(input, init);
    });
    await page.reload();
    await page.getByText("kept for the train").waitFor();
    await page.getByText("Viewing only").waitFor();
    expect(await page.getByLabel("Message to the agent").count()).toBe(0);
    await page.evaluate(() => {
      location.hash = "#/";
    });
    await page.getByText("Fix hanging clients").waitFor();
  });

  it("renames, exports and shows files", async () => {
    const { session, hub, instance, open } = stage();
    session.text("hello");
    hub.files.set("src/pool.ts", Array.from({ length: 500 }, (_, index) => `line ${index + 1}`).join("\n"));
    const page = await open("Pixel");
    await page.getByRole("button", { name: "Session menu" }).click();
    await page.getByLabel("Title of the session").fill("A better name");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { name: "A better name" }).waitFor();
    await page.getByRole("button", { name: "Session menu" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export as Markdown" }).click();
    expect((await download).suggestedFilename()).toBe("A better name.md");
    await page.goto(`${hub.url}#/files/s1?instance=${instance.id}`);
    await page.getByRole("link", { name: "src" }).click();
    await page.getByRole("link", { name: "pool.ts" }).click();
    await page.getByText("line 400").waitFor();
    await page.getByRole("button", { name: "Next 400 lines" }).click();
    await page.getByText("line 500").waitFor();
  });

  it("a watching device has no composer and says why", async () => {
    const { session, open } = stage();
    session.text("look");
    const page = await open("Pixel", { preset: "viewer" });
    await page.getByText("Viewing only").waitFor();
    expect(await page.getByLabel("Message to the agent").count()).toBe(0);
  });
});
