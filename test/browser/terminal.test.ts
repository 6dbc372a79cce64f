import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { FakeSession } from "../support/fake-hub-session.ts";
import { setStage } from "../support/web-stage.ts";
import { framePainted } from "./in-page.ts";

const stage = setStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 15_000 };

const ESC = "\u001b";

function run(session: FakeSession, data: string): void {
  session.emit({
    sessionUpdate: "tool_call",
    toolCallId: "x1",
    kind: "execute",
    status: "in_progress",
    title: "Run the tests",
    rawInput: { command: "npm test" },
    _meta: { terminal_output: { terminal_id: "1", data } },
  });
}

const more = (session: FakeSession, data: string): void =>
  session.emit({
    sessionUpdate: "tool_call_update",
    toolCallId: "x1",
    _meta: { terminal_output: { terminal_id: "1", data } },
  });

/** 3,000 lines; "needle" in some of them, in two colours, behind a carriage return, in capitals. */
const LONG = Array.from({ length: 3000 }, (_, index) => {
  if (index === 5) return `${index}: ${ESC}[31mnee${ESC}[0mdle`;
  if (index === 1500) return `wrong wrong\r${index}: NEEDLE`;
  if (index === 2990) return `${index}: a needle, a needle`;
  return `${index}: ${ESC}[32mok${ESC}[0m some words of a test that passed`;
}).join("\r\n");

async function openOutput(page: Page) {
  await page.getByRole("button", { name: /Run the tests/ }).click();
  const output = page.locator(".terminal pre");
  await output.waitFor();
  return output;
}

const find = (page: Page) => page.getByLabel("Find in output", { exact: true }).and(page.locator("input"));
const openFind = (page: Page): Promise<void> => page.getByRole("button", { name: "Find in output" }).click();
const count = (page: Page) => page.locator(".find-count");
const current = (page: Page) => page.locator("mark.found[aria-current]");

/** What is seen of the current place; nothing while it is not on screen. */
const seen = (page: Page): Promise<string> =>
  current(page).evaluateAll((marks) => {
    const place = marks[0]?.getBoundingClientRect();
    const isOnScreen = place !== undefined && document.elementFromPoint(place.left + 2, place.top + 2) === marks[0];
    return isOnScreen ? marks.map((mark) => mark.textContent ?? "").join("") : "";
  });

describe("a long output", () => {
  it("shows its end first, loads what is earlier without losing the place, and paints no more than it must", async () => {
    const { session, open } = stage();
    run(session, LONG);
    const page = await open("Pixel");
    const output = await openOutput(page);
    await output.getByText("2999: ok", { exact: false }).waitFor();
    await expect
      .poll(() => output.evaluate((pre) => pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 4))
      .toBe(true);
    await output.evaluate((pre) => pre.scrollTo(0, 0));
    const first = output.locator('[data-line="2800"]');
    const place = async (): Promise<number> => (await first.boundingBox())?.y ?? 0;
    const before = await place();
    await page.getByRole("button", { name: "2,800 earlier lines" }).click();
    await page.getByRole("button", { name: "2,000 earlier lines" }).waitFor();
    // The button above stands in the same place: only the output moved.
    expect(Math.abs((await place()) - before)).toBeLessThan(4);
    await page.getByRole("button", { name: "2,000 earlier lines" }).click();
    await page.getByRole("button", { name: "800 later lines" }).click();
    expect(await output.locator("[data-line]").count()).toBeLessThanOrEqual(1000);
  });

  it("is searched whole: counted, stepped through both ways, brought into view, closed with the focus where it was", async () => {
    const { session, open } = stage();
    run(session, LONG);
    const page = await open("Pixel");
    const output = await openOutput(page);
    const button = page.getByRole("button", { name: "Find in output" });
    await openFind(page);
    await find(page).fill("needle");
    await expect.poll(() => count(page).textContent(), WAIT).toBe("3 of 4");
    await expect.poll(() => seen(page), WAIT).toBe("needle");
    await page.keyboard.press("Enter");
    await expect.poll(() => count(page).textContent(), WAIT).toBe("4 of 4");
    await page.keyboard.press("Enter");
    await expect.poll(() => count(page).textContent(), WAIT).toBe("1 of 4");
    // Far outside of what was loaded, and in two colours.
    await expect.poll(() => seen(page), WAIT).toBe("needle");
    await output.locator('[data-line="5"]').waitFor();
    await page.keyboard.press("Shift+Enter");
    await expect.poll(() => count(page).textContent(), WAIT).toBe("4 of 4");
    await expect.poll(() => seen(page), WAIT).toBe("needle");
    await page.getByRole("button", { name: "Previous match" }).click();
    await expect.poll(() => count(page).textContent(), WAIT).toBe("3 of 4");
    await expect.poll(() => seen(page), WAIT).toBe("needle");
    await page.getByRole("button", { name: "Previous match" }).click();
    await expect.poll(() => count(page).textContent(), WAIT).toBe("2 of 4");
    await expect.poll(() => seen(page), WAIT).toBe("NEEDLE");
    await expect.poll(() => output.locator('[data-line="1500"]').textContent()).toBe("1500: NEEDLE\n");
    await find(page).fill("wrong");
    await expect.poll(() => count(page).textContent(), WAIT).toBe("No match");
    await expect.poll(() => page.getByRole("button", { name: "Next match" }).isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await expect.poll(() => find(page).count()).toBe(0);
    await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true);
    await expect.poll(() => page.locator("mark.found").count()).toBe(0);
  });

  it("opens its search by key where the focus is in it, and leaves the app's own search alone elsewhere", async () => {
    const { session, open } = stage();
    run(session, LONG);
    const page = await open("Laptop", { viewport: { width: 1280, height: 800 } });
    const output = await openOutput(page);
    for (const key of ["/", "Control+f"]) {
      await output.focus();
      await page.keyboard.press(key);
      await expect.poll(() => find(page).evaluate((element) => element === document.activeElement)).toBe(true);
      await expect.poll(() => find(page).inputValue()).toBe("");
      await page.keyboard.press("Escape");
      await expect.poll(() => output.evaluate((element) => element === document.activeElement)).toBe(true);
    }
    await page.getByRole("button", { name: /Run the tests/ }).focus();
    await page.keyboard.press("/");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("search");
  });

  it("is copied whole, as text, whatever of it is painted", async () => {
    const { session, open } = stage();
    run(session, `${LONG}\r\n${ESC}]52;c;c3RvbGVu\u0007${ESC}]0;owned\u0007last`);
    const page = await open("Pixel");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const title = await page.title();
    await openOutput(page);
    await page.getByRole("button", { name: "Copy output" }).click();
    await page.getByText("Copied").waitFor();
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).split("\n");
    expect(copied).toHaveLength(3001);
    expect([copied[0], copied[5], copied[1500], copied[3000]]).toEqual([
      "0: ok some words of a test that passed",
      "5: needle",
      "1500: NEEDLE",
      "last",
    ]);
    expect(await page.title()).toBe(title);
    expect(await page.locator(".terminal a").count()).toBe(0);
  });

  it("is wrapped, or scrolled sideways to what was found", async () => {
    const { session, open } = stage();
    run(session, `${"x ".repeat(300)}needle`);
    const page = await open("Pixel");
    const output = await openOutput(page);
    const isWide = (): Promise<boolean> => output.evaluate((pre) => pre.scrollWidth > pre.clientWidth);
    expect(await isWide()).toBe(false);
    await page.locator(".terminal").getByRole("button", { name: "Wrap" }).click();
    await expect.poll(isWide).toBe(true);
    await openFind(page);
    await find(page).fill("needle");
    await expect.poll(() => seen(page), WAIT).toBe("needle");
    await expect.poll(() => output.evaluate((pre) => pre.scrollLeft)).toBeGreaterThan(0);
  });

  it("is followed at its end while it grows, some ten times a second at most, and left alone where it is read", async () => {
    const { session, open } = stage();
    run(session, "begin\n");
    const page = await open("Pixel");
    const output = await openOutput(page);
    await output.evaluate((pre) => {
      const state = Object.assign(window, { paints: 0 });
      new MutationObserver(() => (state.paints += 1)).observe(pre, { childList: true });
    });
    const started = Date.now();
    for (let index = 0; index < 300; index += 1) {
      more(session, `line ${index}\n`);
      if (index % 5 === 0) await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await output.getByText("line 299").waitFor();
    const seconds = (Date.now() - started) / 1000;
    const paints = await page.evaluate(() => (window as unknown as { paints: number }).paints);
    expect(paints).toBeGreaterThan(3);
    expect(paints).toBeLessThanOrEqual(Math.ceil(seconds * 10) + 2);
    const isAtEnd = () => output.evaluate((pre) => pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 4);
    await expect.poll(isAtEnd, WAIT).toBe(true);
    await output.evaluate((pre) => pre.scrollTo(0, 100));
    await expect.poll(isAtEnd, WAIT).toBe(false);
    await framePainted(page);
    const place = await output.evaluate((pre) => pre.scrollTop);
    more(session, "and one more\n");
    await output.getByText("and one more").waitFor();
    expect(await output.evaluate((pre) => pre.scrollTop)).toBe(place);
  });

  it("of a megabyte does not freeze a phone four times slower", async () => {
    const { session, open } = stage();
    const line = `${ESC}[36m12:00:00${ESC}[0m ${"some words of a log that is long ".repeat(3)}\n`;
    run(session, `${line.repeat(Math.floor(1_000_000 / line.length))}the last needle`);
    const page = await open("Pixel");
    const debug = await page.context().newCDPSession(page);
    await debug.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.evaluate(() => {
      const state = Object.assign(window, { longest: 0 });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) state.longest = Math.max(state.longest, entry.duration);
      }).observe({ type: "longtask", buffered: false });
    });
    await openOutput(page);
    await openFind(page);
    await find(page).pressSequentially("e");
    await expect.poll(() => count(page).textContent(), WAIT).toMatch(/^\d+ of \d{5}/);
    await find(page).fill("needle");
    await expect.poll(() => count(page).textContent(), WAIT).toBe("1 of 1");
    await find(page).fill("12:00");
    await expect.poll(() => count(page).textContent(), WAIT).toMatch(/ of \d{4}$/);
    for (let step = 0; step < 5; step += 1) await page.keyboard.press("Shift+Enter");
    const longest = await page.evaluate(() => (window as unknown as { longest: number }).longest);
    expect(longest).toBeLessThan(500);
  });
});
