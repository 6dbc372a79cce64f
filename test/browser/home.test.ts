import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { setStage } from "../support/web-stage.ts";
import { storedKeys, workerReady } from "./in-page.ts";

const stage = setStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 10_000 };
const MINUTE = 60_000;

const row = (page: Page, title: string) => page.locator(".session-row", { hasText: title });
const chip = (page: Page, title: string) => row(page, title).locator(".chip").textContent();

/** A device whose clock the test moves. */
async function device(aheadMs = 0): Promise<Page> {
  const { hub, context } = stage();
  const page = await (await context()).newPage();
  await page.clock.install({ time: Date.now() + aheadMs });
  await page.goto(hub.pairing("CLOCK"));
  await page.getByLabel("Name of this device").fill("Pixel");
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await page.locator('[data-hub="open"]').waitFor();
  return page;
}

describe("the session row", () => {
  it("says how it stands and for how long, ticking without a question to the hub, and what was said last", async () => {
    const { hub, session, instance } = stage();
    session.turn = "running";
    session.turnSince = Date.now() - 2 * MINUTE - 5000;
    session.last = { from: "tool", text: "Run the tests" };
    const waiting = hub.addSession(instance, "s2", "Clean up");
    waiting.turn = "waiting";
    waiting.turnSince = Date.now() - 59 * MINUTE - 5000;
    waiting.last = { from: "agent", text: "שלום <b>may I</b>?" };
    const idle = hub.addSession(instance, "s3", "Rest");
    idle.last = { from: "user", text: "thanks ".repeat(22).trim() };
    idle.turnSince = Date.now() - MINUTE;
    idle.branch = "fix/race";
    session.branch = "a-branch-with-a-name-that-goes-on-and-on-beyond-every-screen";
    const page = await device();
    await row(page, "Fix hanging").waitFor();
    expect(await chip(page, "Fix hanging")).toBe("Running 2m");
    expect(await chip(page, "Clean up")).toBe("Waiting for you 59m");
    expect(await row(page, "Rest").locator(".session-row-state").textContent()).toBe(
      "Idlerelay (branch fix/race) · Claude",
    );
    await expect.poll(() => row(page, "Fix hanging").locator("[data-from=tool]").textContent()).toBe("Run the tests");
    await expect
      .poll(() => row(page, "Clean up").locator("[data-from=agent] bdi").textContent())
      .toBe("שלום <b>may I</b>?");
    expect(await row(page, "Rest").locator("[data-from=user]").textContent()).toMatch(/^You: thanks thanks/);
    const fits = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
    expect(fits).toBe(true);
    const heights = await page.locator(".session-row").evaluateAll((rows) => rows.map((one) => one.clientHeight));
    expect(Math.max(...heights)).toBeLessThan(110);
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
    const words = page.locator(".session-row-state > span:first-child");
    // One line each: of "Idle ·" the dot once went under the word.
    const lines = await words.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    expect(lines).toHaveLength(3);
    expect(Math.max(...lines)).toBeLessThan(30);
    const asked = hub.requests.length;
    await page.clock.fastForward(MINUTE);
    await expect.poll(() => chip(page, "Fix hanging"), WAIT).toBe("Running 3m");
    expect(await chip(page, "Clean up")).toBe("Waiting for you 1h");
    expect(hub.requests.slice(asked)).toEqual([]);
  });

  it.each([37 * MINUTE, -37 * MINUTE])("says so on a phone whose clock is off by %d ms, too", async (aheadMs) => {
    const { session } = stage();
    session.turn = "running";
    session.turnSince = Date.now() - 2 * MINUTE - 20_000;
    session.updatedAt = Date.now() - 5 * MINUTE - 20_000;
    const page = await device(aheadMs);
    await expect.poll(() => chip(page, "Fix hanging"), WAIT).toBe("Running 2m");
    expect(await row(page, "Fix hanging").locator(".session-row-side").textContent()).toMatch(/^5m/);
  });

  it.each([90 * MINUTE, -90 * MINUTE])(
    "knows what was seen on a phone whose clock is off by %d ms, and marks all that was not",
    async (aheadMs) => {
      const { hub, session } = stage();
      session.text("an early word");
      const page = await device(aheadMs);
      const title = row(page, "Fix hanging");
      await title.click();
      await page.getByText("an early word").waitFor();
      await page.getByRole("link", { name: "All sessions" }).click();
      await page.clock.runFor(5000);
      await title.waitFor();
      expect(await title.locator(".unread").count()).toBe(0);
      session.updatedAt = Date.now() + 3 * MINUTE;
      hub.event();
      await expect.poll(() => page.clock.runFor(1000).then(() => title.locator(".unread").count()), WAIT).toBe(1);
      // It is whole, however long the title is.
      const isWhole = await title.locator(".unread").evaluate((mark) => {
        const [own, around] = [
          mark.getBoundingClientRect(),
          mark.closest(".session-row-head")?.getBoundingClientRect(),
        ];
        return around !== undefined && own.right <= around.right && own.bottom <= around.bottom;
      });
      expect(isWhole).toBe(true);
    },
  );

  it("stands still while nothing is heard of the hub: nobody knows whether it still runs", async () => {
    const { hub, session } = stage();
    session.turn = "running";
    session.turnSince = Date.now() - 2 * MINUTE - 5000;
    const page = await device();
    await row(page, "Fix hanging").waitFor();
    await hub.kill();
    await page.locator('[data-hub="waiting"], [data-hub="connecting"]').waitFor();
    await page.clock.fastForward(10 * MINUTE);
    expect(await chip(page, "Fix hanging")).toBe("Running 2m");
  });

  it("S9 a session that was left is folded away, says where it goes on, and leads there", async () => {
    const { hub, session, instance } = stage();
    instance.editor = "Zed";
    session.text("of the first");
    const next = hub.addInstance("Claude", "/work/relay");
    next.editor = "JetBrains";
    const twin = hub.addSession(next, "s1", "Fix hanging clients");
    twin.text("of the second");
    session.supersededBy = next.id;
    const page = await device();
    await row(page, "Fix hanging").first().waitFor();
    await expect.poll(() => row(page, "Fix hanging").filter({ visible: true }).count()).toBe(1);
    await page.getByText("Continued elsewhere (1)").click();
    const left = page.locator(".elsewhere .session-row");
    await expect.poll(() => left.locator(".chip").textContent()).toBe(" Continues in JetBrains");
    await page.goto(`${hub.url}#/session/s1?instance=${instance.id}`);
    await page.getByText("of the first").waitFor();
    // What a page that opens with the session loads ahead goes along, too.
    await page.reload();
    await page.getByText("of the first").waitFor();
    await page.getByText("This session goes on in JetBrains.").waitFor();
    const button = page.getByRole("link", { name: "Go there" });
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await button.click();
    await page.getByText("of the second").waitFor();
    await expect.poll(() => page.getByText("of the first").count()).toBe(0);
    await expect.poll(() => page.locator("[data-mark]").count()).toBe(0);
    await expect.poll(() => button.count()).toBe(0);
    await page.goto(`${hub.url}#/`);
    await page.getByText("Continued elsewhere (1)").click();
    await left.click();
    await page.getByText("of the second").waitFor();
  });

  it("S9 one that was left but still runs stays in sight", async () => {
    const { hub, session } = stage();
    const next = hub.addInstance("Claude", "/work/relay");
    hub.addSession(next, "s1", "Fix hanging clients");
    session.supersededBy = next.id;
    session.turn = "running";
    const page = await device();
    await row(page, "Fix hanging").first().waitFor();
    await expect.poll(() => row(page, "Fix hanging").filter({ visible: true }).count()).toBe(2);
  });

  it("C3.history shows the last line of what has ended, and where the words of a search were found", async () => {
    const { hub } = stage();
    const entry = { sessionId: "h1", title: "An old one", agent: "Claude", updatedAt: 1_700_000_000_000 };
    hub.history.push({ ...entry, lastText: "All is done.", lastFrom: "agent" });
    const page = await device();
    await row(page, "An old one").getByText("All is done.").waitFor();
    hub.history[0] = {
      ...entry,
      lastText: "All is done.",
      lastFrom: "agent",
      snippet: { text: "a needle", marks: [] },
    };
    await page.getByLabel("Search sessions").fill("needle");
    await page.clock.runFor(1000);
    await row(page, "An old one").getByText("a needle").waitFor();
    expect(await row(page, "An old one").getByText("All is done.").count()).toBe(0);
  });
});

describe("the history", () => {
  it("has a session as soon as its agent has ended, and is asked for again when the hub is back", async () => {
    const { hub, session, instance, open } = stage();
    session.text("read on the train");
    session.emit({ sessionUpdate: "session_info_update", title: session.title });
    const page = await open("Laptop", { viewport: { width: 1280, height: 800 } });
    await page.getByText("read on the train").waitFor();
    const history = page.locator(".home-section", { has: page.locator("#history") });
    await history.getByText("No past sessions yet.").waitFor();
    hub.instances.splice(hub.instances.indexOf(instance), 1);
    hub.history.push({ sessionId: "s1", title: "Fix hanging clients", agent: "Claude", updatedAt: Date.now() });
    hub.event();
    await history.locator(".session-row", { hasText: "Fix hanging clients" }).waitFor();
    await workerReady(page);
    // What is read is kept a moment later, and at once when the page is left.
    await page.goto(`${hub.url}#/settings`);
    await expect.poll(() => storedKeys(page), WAIT).toEqual(expect.arrayContaining(["home", "session/s1"]));
    await hub.kill();
    await page.goto("about:blank");
    await page.goto(`${hub.url}#/`);
    await history.getByText("What this device has kept.").waitFor();
    await history.locator(".session-row", { hasText: "Fix hanging clients" }).click();
    await page.getByText("read on the train").waitFor();
    hub.history.push({ sessionId: "h2", title: "Another old one", agent: "Claude", updatedAt: 1_700_000_000_000 });
    await hub.start();
    await history.locator(".session-row", { hasText: "Another old one" }).waitFor();
    expect(await history.getByText("What this device has kept.").count()).toBe(0);
  });
});

describe("the start of the app", () => {
  it("reads the list once", async () => {
    const { hub, session } = stage();
    const page = await device();
    await row(page, "Fix hanging").waitFor();
    const before = hub.requests.length;
    await page.reload();
    await page.locator('[data-hub="open"]').waitFor();
    await page.clock.runFor(5000);
    // What the page had asked by then has been asked before this is shown.
    session.title = "Another title";
    hub.event();
    await expect.poll(() => page.clock.runFor(1000).then(() => row(page, "Another title").count()), WAIT).toBe(1);
    const asked = hub.requests.slice(before);
    for (const path of ["GET /api/instances", "GET /api/interactions"])
      expect(asked.filter((request) => request === path)).toHaveLength(2);
    expect(asked.filter((request) => request === "GET /api/events")).toHaveLength(1);
  });
});
