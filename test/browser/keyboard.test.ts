import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { PHONE } from "../support/browser.ts";
import { COMMAND_ASK } from "../support/fake-scenes.ts";
import { setStage } from "../support/web-stage.ts";

const stage = setStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 10_000 };

/** What a phone's keyboard leaves of the screen. */
const LEFT = 844 - 336;

const field = (page: Page) => page.getByLabel("Message to the agent");

/** The lower edge of an element, in pixels of the page. */
const bottomOf = async (page: Page, selector: string): Promise<number> => {
  const box = await page.locator(selector).boundingBox();
  return box === null ? Number.POSITIVE_INFINITY : box.y + box.height;
};

/** A keyboard that covers the page and tells so by the visual viewport alone, as on iOS. */
const coverPage = (page: Page, height: number): Promise<void> =>
  page.evaluate((left) => {
    const viewport = window.visualViewport;
    if (viewport === null) throw new Error("no visual viewport");
    Object.defineProperty(viewport, "height", { configurable: true, get: () => left });
    viewport.dispatchEvent(new Event("resize"));
  }, height);

describe("the keyboard of a phone", () => {
  it("that resizes the page leaves the composer above it, and the end of the transcript in sight", async () => {
    const { session, open } = stage();
    for (let index = 0; index < 60; index += 1) session.text(`message ${index}`, `m${index}`);
    const page = await open("Pixel");
    await page.getByText("message 59").waitFor();
    await field(page).tap();
    await page.setViewportSize({ width: PHONE.width, height: LEFT });
    await expect.poll(() => bottomOf(page, ".composer"), WAIT).toBeLessThanOrEqual(LEFT + 1);
    await expect.poll(() => bottomOf(page, "text=message 59"), WAIT).toBeLessThanOrEqual(LEFT);
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(LEFT);
  });

  it("that covers the page is stayed clear of, and the page is whole again when it goes", async () => {
    const { session, open } = stage();
    session.text("hello");
    const page = await open("Pixel");
    await field(page).tap();
    await coverPage(page, LEFT);
    await expect.poll(() => bottomOf(page, ".composer"), WAIT).toBeLessThanOrEqual(LEFT + 1);
    await coverPage(page, PHONE.height);
    await expect.poll(() => bottomOf(page, ".composer"), WAIT).toBeGreaterThan(LEFT + 100);
  });

  it("leaves room for a long text and for a question, whose buttons stay in sight", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    await page.setViewportSize({ width: PHONE.width, height: LEFT });
    await field(page).fill("a line\n".repeat(60));
    const box = await field(page).boundingBox();
    expect(box?.height).toBeLessThanOrEqual(LEFT * 0.41);
    await expect.poll(() => bottomOf(page, ".composer"), WAIT).toBeLessThanOrEqual(LEFT + 1);
    await field(page).fill("");
    void session.ask("session/request_permission", COMMAND_ASK);
    await page.locator(".option[data-kind='reject_once']").waitFor();
    await expect.poll(() => bottomOf(page, ".option[data-kind='reject_once']"), WAIT).toBeLessThanOrEqual(LEFT);
    expect(
      await page.evaluate(() => getComputedStyle(document.querySelector(".composer textarea") as Element).fontSize),
    ).toBe("16px");
  });
});
