import { describe, expect, it } from "vitest";
import { setStage } from "../support/web-stage.ts";
import { restOf } from "./in-page.ts";

const stage = setStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 20_000 };

/** The budget: rows that exist at any time, whatever the length of the session. */
const ROWS_MAX = 60;

describe("a session of 5,000 items", () => {
  it("keeps few rows mounted while it is scrolled, streamed into and loaded backwards", async () => {
    const { session, open } = stage();
    for (let index = 0; index < 2500; index += 1) {
      session.text(`Message ${index}. ${"Some words to fill the line. ".repeat(index % 5)}`, `m${index}`);
      session.emit({
        sessionUpdate: "tool_call",
        toolCallId: `t${index}`,
        title: `Run step ${index}`,
        kind: "execute",
        status: "completed",
      });
    }
    const page = await open("Pixel");
    await page.getByText("Run step 2499").waitFor();
    const rows = (): Promise<number> => page.locator(".row").count();
    expect(await rows()).toBeLessThanOrEqual(ROWS_MAX);

    // Back to the beginning, page by page, the way a finger does it.
    await page.locator(".transcript").hover();
    let most = 0;
    await expect
      .poll(
        async () => {
          await page.mouse.wheel(0, -20_000);
          most = Math.max(most, await rows());
          return page.getByText("Message 0.", { exact: false }).count();
        },
        { timeout: 80_000, interval: 30 },
      )
      .toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(ROWS_MAX);

    await page.getByRole("button", { name: /To the end|new/ }).click();
    await page.getByText("Run step 2499").waitFor();
    for (let index = 0; index < 90; index += 1) session.text(`tail ${index} `, "tail");
    await page.getByText("tail 89").waitFor();
    expect(await rows()).toBeLessThanOrEqual(ROWS_MAX);
  });

  it("keeps its place when a page is put in front", async () => {
    const { session, open } = stage();
    for (let index = 0; index < 400; index += 1) session.text(`Message number ${index}`, `m${index}`);
    const page = await open("Pixel");
    await page.getByText("Message number 399").waitFor();
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -1200);
    const anchor = page.getByText("Message number 365");
    await anchor.waitFor();
    await restOf(page.locator(".transcript"));
    const before = (await anchor.boundingBox())?.y ?? 0;
    await page.getByRole("button", { name: "Load earlier" }).evaluate((button: HTMLElement) => button.click());
    await expect
      .poll(() => page.locator(".transcript").evaluate((list) => list.scrollHeight > 12_000), WAIT)
      .toBe(true);
    await restOf(page.locator(".transcript"));
    const after = (await anchor.boundingBox())?.y ?? 0;
    expect(Math.abs(after - before)).toBeLessThan(4);
  });
});
