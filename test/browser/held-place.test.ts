import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { FakeSession } from "../support/fake-hub-session.ts";
import { setStage } from "../support/web-stage.ts";

const stage = setStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 15_000 };

/** Frames looked at after the last part has come. */
const CALM_FRAMES = 30;

interface Painted {
  /** Where what is watched stands on the screen. */
  readonly top: number;
  /** How far the end of the session is below the screen. */
  readonly below: number;
  /** A finger on it would touch it. */
  readonly isHit: boolean;
  /** Under the upper edge of the screen nothing is drawn. */
  readonly isBlank: boolean;
}

type Recording = Window & { painted?: Painted[] };

/** Notes after every frame, once it is painted, where the element stands. */
async function watch(element: Locator): Promise<void> {
  await element.evaluate((watched) => {
    const scroller = watched.closest(".transcript");
    if (scroller === null) throw new Error("not in the transcript");
    const painted: Painted[] = [];
    (window as Recording).painted = painted;
    const { port1, port2 } = new MessageChannel();
    const frame = (): void => {
      if ((window as Recording).painted === painted) requestAnimationFrame(() => port2.postMessage(0));
    };
    port1.onmessage = () => {
      const { top, left, width, height } = watched.getBoundingClientRect();
      const view = scroller.getBoundingClientRect();
      const touched = document.elementFromPoint(left + width / 2, top + height / 2);
      painted.push({
        top,
        below: scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop,
        isHit: touched !== null && watched.contains(touched),
        isBlank: document.elementFromPoint(view.left + view.width / 2, view.top + 12)?.closest(".row") === null,
      });
      frame();
    };
    frame();
  });
}

const paintedOf = (page: Page): Promise<readonly Painted[]> => page.evaluate(() => (window as Recording).painted ?? []);

/** What was painted until now, and in `count` frames more. */
async function framesMore(page: Page, count = CALM_FRAMES): Promise<readonly Painted[]> {
  const from = (await paintedOf(page)).length;
  await expect.poll(async () => (await paintedOf(page)).length, WAIT).toBeGreaterThan(from + count);
  return paintedOf(page);
}

/** How far it moved at most from where it first stood. */
function moved(painted: readonly Painted[]): number {
  const from = painted[0]?.top ?? Number.NaN;
  return Math.max(...painted.map(({ top }) => Math.abs(top - from)));
}

const say = (session: FakeSession, count: number): void => {
  for (let index = 0; index < count; index += 1) session.text(`message ${index}`, `m${index}`);
};

const run = (session: FakeSession, id: string, lines: number): void =>
  session.emit({
    sessionUpdate: "tool_call",
    toolCallId: id,
    kind: "execute",
    status: "completed",
    title: `Run ${id}`,
    rawInput: { command: "npm test" },
    _meta: {
      terminal_output: {
        terminal_id: id,
        data: Array.from({ length: lines }, (_, index) => `line ${index} of ${id}\r\n`).join(""),
      },
    },
  });

const card = (page: Page, id: string): Locator => page.getByRole("button", { name: `Run ${id}` });
const toEnd = (page: Page): Locator => page.locator(".to-end");
const below = (page: Page): Promise<number> =>
  page.locator(".transcript").evaluate((view) => view.scrollHeight - view.clientHeight - view.scrollTop);

describe("what a reader touches", () => {
  it("stays under the finger when it opens at the end of a session, until its last part is there", async () => {
    const { session, open } = stage();
    say(session, 30);
    run(session, "x1", 400);
    session.text("The last word.", "last");
    const page = await open("Pixel");
    await page.getByText("The last word.").waitFor();
    await expect.poll(() => below(page), WAIT).toBeLessThan(1);
    await watch(card(page, "x1"));
    await framesMore(page, 3);
    await card(page, "x1").click();
    await page.locator(".terminal pre").getByText("line 399 of x1").waitFor();
    const painted = await framesMore(page);
    expect(moved(painted)).toBeLessThan(1);
    expect(painted.every(({ isHit }) => isHit)).toBe(true);
    await toEnd(page).waitFor();
  });

  it("gives the end back when it is closed, and the session is followed again", async () => {
    const { session, open } = stage();
    say(session, 30);
    run(session, "x1", 400);
    const page = await open("Pixel");
    await card(page, "x1").waitFor();
    await expect.poll(() => below(page), WAIT).toBeLessThan(1);
    await card(page, "x1").click();
    await page.locator(".terminal pre").getByText("line 399 of x1").waitFor();
    await toEnd(page).waitFor();
    await watch(card(page, "x1"));
    await card(page, "x1").click();
    await page.locator(".terminal").waitFor({ state: "detached" });
    await toEnd(page).waitFor({ state: "detached" });
    expect((await framesMore(page)).some(({ isBlank }) => isBlank)).toBe(false);
    session.text("A new word.\n\n".repeat(20), "new");
    await page.getByText("A new word.").last().waitFor();
    await expect.poll(() => below(page), WAIT).toBeLessThan(1);
    expect(await toEnd(page).count()).toBe(0);
  });

  it("stays under the finger where the session goes on to be written, and can be touched in every frame", async () => {
    const { session, open } = stage();
    say(session, 30);
    run(session, "x1", 400);
    const page = await open("Pixel");
    await card(page, "x1").waitFor();
    let words = 0;
    const writing = setInterval(() => session.text(`word ${words++} `, "stream"), 20);
    try {
      await page.getByText("word 3 ").first().waitFor();
      await card(page, "x1").click();
      await watch(card(page, "x1"));
      await page.locator(".terminal pre").getByText("line 399 of x1").waitFor();
      const from = words;
      await expect.poll(() => words, WAIT).toBeGreaterThan(from + 30);
      const painted = await framesMore(page);
      expect(moved(painted)).toBeLessThan(1);
      expect(painted.every(({ isHit }) => isHit)).toBe(true);
      await toEnd(page).click();
      await toEnd(page).waitFor({ state: "detached" });
      await expect.poll(() => below(page), WAIT).toBeLessThan(1);
      await watch(page.locator(".row").last());
      const followed = await framesMore(page);
      expect(Math.max(...followed.map((each) => each.below))).toBeLessThan(1);
    } finally {
      clearInterval(writing);
    }
  });

  it("is not held by a tap that opens nothing: a session is followed on", async () => {
    const { session, open } = stage();
    say(session, 30);
    session.text("```\ncode\n```\n\n", "code");
    const page = await open("Pixel");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy" }).last().click();
    await page.getByText("Copied").waitFor();
    session.text("more words\n\n".repeat(20), "code");
    await page.getByText("more words").last().waitFor();
    await expect.poll(() => below(page), WAIT).toBeLessThan(1);
    expect(await toEnd(page).count()).toBe(0);
  });

  it("stays where it is in the middle of a session, opened and closed", async () => {
    const { session, open } = stage();
    say(session, 20);
    for (let index = 0; index < 20; index += 1) run(session, `x${index}`, 40);
    session.text("The last word.\n\n".repeat(20), "last");
    const page = await open("Pixel");
    await page.getByText("The last word.").last().waitFor();
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -800);
    await toEnd(page).waitFor();
    await expect.poll(async () => (await card(page, "x12").boundingBox())?.y ?? 0, WAIT).toBeGreaterThan(120);
    await watch(card(page, "x12"));
    await framesMore(page, 20);
    await watch(card(page, "x12"));
    await framesMore(page, 3);
    for (let taps = 0; taps < 4; taps += 1) {
      await card(page, "x12").click();
      if (taps % 2 === 0) await page.locator(".terminal pre").getByText("line 39 of x12").waitFor();
      expect(moved(await framesMore(page))).toBeLessThan(1);
    }
  });

  it("is closed where the reader is: the line of a card stays in sight inside of it", async () => {
    const { session, open } = stage();
    say(session, 20);
    run(session, "x1", 400);
    session.text("The last word.\n\n".repeat(30), "last");
    const page = await open("Pixel");
    await page.getByText("The last word.").last().waitFor();
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -1000);
    await toEnd(page).waitFor();
    await card(page, "x1").click();
    const output = page.locator(".terminal pre");
    await output.getByText("line 399 of x1").waitFor();
    // The end of the output is under the upper edge: its card begins above the screen.
    await output.evaluate((pre) => {
      const view = pre.closest(".transcript");
      view?.scrollBy(0, pre.getBoundingClientRect().bottom - view.getBoundingClientRect().top - 120);
    });
    const edge = (await page.locator(".transcript").boundingBox())?.y ?? 0;
    await expect.poll(async () => (await card(page, "x1").boundingBox())?.y, WAIT).toBeCloseTo(edge, 0);
    await watch(card(page, "x1"));
    await framesMore(page, 20);
    await watch(card(page, "x1"));
    await framesMore(page, 3);
    await card(page, "x1").click();
    await output.waitFor({ state: "detached" });
    const painted = await framesMore(page);
    expect(moved(painted)).toBeLessThan(1);
    expect(painted.every(({ isHit }) => isHit)).toBe(true);
  });

  it("sees the end in every frame while it follows a stream", async () => {
    const { session, open } = stage();
    say(session, 30);
    run(session, "x1", 3);
    const page = await open("Pixel");
    await card(page, "x1").waitFor();
    let words = 0;
    const writing = setInterval(() => session.text(`word ${words++} `.repeat(12), `s${words >> 4}`), 20);
    try {
      await page.getByText("word 3 ").first().waitFor();
      await expect.poll(() => below(page), WAIT).toBeLessThan(1);
      await watch(page.locator(".row").last());
      await expect.poll(() => words, WAIT).toBeGreaterThan(60);
      const painted = await framesMore(page);
      expect(Math.max(...painted.map((each) => each.below))).toBeLessThan(1);
    } finally {
      clearInterval(writing);
    }
  });

  it("leaves a reader where he is, who has left the end of a session that is just loaded and written on", async () => {
    const { session, open } = stage();
    say(session, 60);
    const page = await open("Pixel");
    let words = 0;
    const writing = setInterval(() => session.text(`word ${words++} `, "stream"), 20);
    try {
      await page.getByText("word 3 ").first().waitFor();
      await page.locator(".transcript").hover();
      await page.mouse.wheel(0, -150);
      await toEnd(page).waitFor();
      // The wheel's own way is over when two frames are alike.
      const read = page.getByText("message 55", { exact: true });
      await expect
        .poll(async () => {
          await watch(read);
          return moved(await framesMore(page, 4));
        }, WAIT)
        .toBeLessThan(1);
      const from = words;
      await expect.poll(() => words, WAIT).toBeGreaterThan(from + 60);
      expect(moved(await framesMore(page))).toBeLessThan(1);
    } finally {
      clearInterval(writing);
    }
  });
});
