/** What a page shows first, and how it comes by it. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { setStage } from "../support/web-stage.ts";
import { restOf, workerReady } from "./in-page.ts";

const stage = setStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 10_000 };

const isAtEnd = (page: Page): Promise<boolean> =>
  page.locator(".transcript").evaluate((list) => list.scrollTop + list.clientHeight >= list.scrollHeight - 40);

describe("a page that opens on a session", () => {
  it("dials while the program is on its way: one socket, and none is missed where that fails", async () => {
    const { session, hub, open } = stage();
    session.text("kept nowhere");
    const page = await open("Pixel");
    const sockets: string[] = [];
    page.on("websocket", (socket) => sockets.push(socket.url()));
    const live = page.locator('.session[data-attach="live"]');
    let isProgramThere = false;
    let wasDialedBefore = false;
    await page.route(/\/assets\/core-/, async (route) => {
      await expect.poll(() => sockets.length, WAIT).toBe(1);
      wasDialedBefore = !isProgramThere;
      isProgramThere = true;
      await route.continue();
    });
    // One that comes later would bring the program from its cache.
    await workerReady(page);
    await page.evaluate(() => navigator.serviceWorker.getRegistration().then((worker) => worker?.unregister()));
    await page.goto("about:blank");
    await page.goto(`${hub.url}#/session/s1`);
    await live.waitFor();
    await page.getByText("kept nowhere").waitFor();
    expect(wasDialedBefore).toBe(true);
    expect(sockets.length).toBe(1);
    await page.unroute(/\/assets\/core-/);
    let refused = 0;
    await page.route(/api\/ws-ticket/, (route) => {
      refused += 1;
      return refused === 1 ? route.abort() : route.continue();
    });
    await page.reload();
    await live.waitFor();
    expect(refused).toBeGreaterThan(1);
  });

  it("starts at the end of a long session, and goes back to where the reader was", async () => {
    const { session, open, hub } = stage();
    for (let index = 0; index < 300; index += 1) session.text(`message ${index}`, `m${index}`);
    const page = await open("Pixel");
    await page.getByText("message 299").waitFor();
    await expect.poll(() => isAtEnd(page), WAIT).toBe(true);
    // The rows before the first screenful are there, though nobody has seen them.
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -900);
    await page.getByText("message 280", { exact: true }).waitFor();
    const first = (): Promise<number> =>
      page.locator(".transcript").evaluate((list) => {
        const { top } = list.getBoundingClientRect();
        const row = [...list.querySelectorAll(".row")].find((each) => each.getBoundingClientRect().bottom > top);
        return Number(/message (\d+)/.exec(row?.textContent ?? "")?.[1]);
      });
    await expect.poll(first, WAIT).toBeLessThan(270);
    await restOf(page.locator(".transcript"));
    const place = await first();
    await page.goto(`${hub.url}#/`);
    await page.locator(".home").waitFor();
    await page.goto(`${hub.url}#/session/s1`);
    // Rows are measured anew: near enough to find the place again.
    await expect.poll(async () => Math.abs((await first()) - place), WAIT).toBeLessThan(6);
  });

  it("shows what comes next in a session that does not fill the screen", async () => {
    const { session, open } = stage();
    session.text("first", "m1");
    const page = await open("Pixel");
    await page.getByText("first").waitFor();
    for (const [index, text] of ["second", "third", "fourth"].entries()) {
      session.text(text, `n${index}`);
      await page.getByText(text).waitFor();
    }
    await page.getByText("first").waitFor();
  });

  it("shows all of a session whose end is folded away", async () => {
    const { session, open } = stage();
    for (let index = 0; index < 6; index += 1) session.text(`said ${index}`, `m${index}`);
    for (let index = 0; index < 30; index += 1)
      session.emit({
        sessionUpdate: "tool_call",
        toolCallId: `t${index}`,
        title: `Read ${index}`,
        kind: "read",
        status: "completed",
      });
    const page = await open("Pixel");
    await page.getByText("said 0").waitFor();
    await page.getByText("said 5").waitFor();
  });
});
