import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { DESK, PHONE } from "../support/browser.ts";
import { COMMAND_ASK, DIFF_ASK, FORM_ASK, fillSession, OPTIONS } from "../support/fake-scenes.ts";
import { setStage } from "../support/web-stage.ts";

const stage = setStage();

const AXE = readFile("node_modules/axe-core/axe.min.js", "utf8");

/** axe's findings as one line each. */
async function violations(page: Page, name: string): Promise<string[]> {
  // By the debugger, not by a script element: the page's policy stays as it is.
  await page.evaluate(await AXE);
  return page.evaluate(async (where) => {
    const { axe } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> };
    };
    const found = await axe.run();
    return found.violations.flatMap((one) =>
      one.nodes.map((node) => `${where}: ${one.id}: ${node.html.slice(0, 160)} ${node.failureSummary?.slice(0, 200)}`),
    );
  }, name);
}

/** Controls that do not answer within 44 pixels around their middle. Words within a text are as high as it is. */
function tooSmall(): string[] {
  const controls = document.querySelectorAll<HTMLElement>(
    "button:enabled, a[href], select:enabled, summary, input, textarea",
  );
  const found: string[] = [];
  for (const control of controls) {
    const target = control.closest("label") ?? control;
    target.scrollIntoView({ block: "center" });
    const { left, top, width, height } = target.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    const isInSight = target.contains(document.elementFromPoint(x, y)) && y > 22 && y < innerHeight - 22;
    if (!isInSight || control.matches(".link, .mention")) continue;
    const isHit = (dx: number, dy: number): boolean => target.contains(document.elementFromPoint(x + dx, y + dy));
    const isHigh = height >= 43.5 || (isHit(0, -21) && isHit(0, 21));
    const isWide = width >= 43.5 || (isHit(-21, 0) && isHit(21, 0));
    if (!isHigh || !isWide)
      found.push(`${target.className} ${target.textContent} ${Math.round(width)}×${Math.round(height)}`);
  }
  return found;
}

/** A screen once it has all it shows. The one before it looks alike: its title tells them apart. */
async function goTo(page: Page, hash: string, title: string): Promise<void> {
  await page.goto(`${stage().hub.url}#/${hash}`);
  await page.locator(".page", { has: page.getByRole("heading", { name: title, level: 1, exact: true }) }).waitFor();
  await page.locator(".page-body[aria-busy='false']").waitFor();
}

const LOOKS = [
  { name: "phone, light", viewport: PHONE, colorScheme: "light" },
  { name: "phone, dark", viewport: PHONE, colorScheme: "dark" },
  { name: "desk, light", viewport: DESK, colorScheme: "light" },
  { name: "desk, dark", viewport: DESK, colorScheme: "dark" },
] as const;

describe("accessibility and policy", () => {
  it("axe finds nothing in a session that repeats itself", async () => {
    const { session, open } = stage();
    const content = [{ type: "diff", path: "src/pool.ts", oldText: "1\n", newText: "2\n" }];
    const edit = { kind: "edit", title: "Edit it", status: "completed", content };
    for (const again of ["a", "b"]) {
      const thought = { type: "text", text: "The retry logic, again." };
      session.emit({ sessionUpdate: "agent_thought_chunk", messageId: `t-${again}`, content: thought });
      session.text("| a |\n|---|\n| 1 |\n", `m-${again}`);
      session.emit({ sessionUpdate: "tool_call", toolCallId: again, ...edit });
    }
    const page = await open("Pixel");
    const edits = page.getByRole("button", { name: /Edit it/ });
    await edits.first().click();
    await edits.last().click();
    void session.ask("session/request_permission", { toolCall: { toolCallId: "c", ...edit }, options: OPTIONS });
    await expect.poll(() => page.locator(".diff-body").count()).toBe(3);
    expect(await violations(page, "repeated")).toEqual([]);
  });

  it.each(LOOKS)("axe finds nothing on any screen: $name", async (look) => {
    const { hub, session, instance, context, open } = stage();
    fillSession(session);
    session.setTurn("running");
    hub.history.push({
      sessionId: "h1",
      title: "An old one",
      workspace: "/work/relay",
      agent: "Claude",
      updatedAt: 1_700_000_000_000,
    });
    hub.files.set("src/pool.ts", "export const a = 1;");
    session.last = { from: "tool", text: "Run the tests" };
    const left = hub.addSession(instance, "s9", "Left for another editor");
    const goesOn = hub.addInstance("Claude", "/work/relay");
    hub.addSession(goesOn, "s9", "Left for another editor");
    left.supersededBy = goesOn.id;
    const found: string[] = [];
    const pairing = await (await context(look)).newPage();
    await pairing.goto(hub.url);
    await pairing.getByLabel("Pairing code").waitFor();
    found.push(...(await violations(pairing, "pair")));
    const page = await open("Pixel", look);
    await page.getByRole("button", { name: /Edit pool\.ts/ }).click();
    await page.locator(".diff-line").first().waitFor();
    found.push(...(await violations(page, "session")));
    await page.getByRole("button", { name: "To the end" }).click();
    await page.getByRole("button", { name: /Run the tests/ }).click();
    await page.locator(".terminal").waitFor();
    found.push(...(await violations(page, "output")));
    await page.getByRole("button", { name: "Find in output" }).click();
    await page.keyboard.type("test");
    await page.locator("mark.found").first().waitFor();
    found.push(...(await violations(page, "find")));
    await page.keyboard.press("Escape");
    for (const [name, ask] of [
      ["command", COMMAND_ASK],
      ["diff", DIFF_ASK],
    ] as const) {
      void session.ask("session/request_permission", ask);
      await page.locator(".option[data-kind='reject_once'][aria-disabled='false']").waitFor();
      found.push(...(await violations(page, `ask ${name}`)));
      for (const id of session.asks.keys()) session.settle(id, {}, { connectionId: "x", device: "d", name: "Zed" });
      await page.locator(".question").waitFor({ state: "detached" });
    }
    for (const toolCallId of ["a1", "a2"]) {
      const toolCall = { toolCallId, title: toolCallId, kind: "execute", rawInput: { command: toolCallId } };
      void session.ask("session/request_permission", { toolCall, options: OPTIONS });
    }
    await page.getByRole("button", { name: "Read 2 alike" }).click();
    await page.locator(".alike .option[data-kind='reject_once'][aria-disabled='false']").waitFor();
    found.push(...(await violations(page, "alike")));
    for (const id of session.asks.keys()) session.settle(id, {}, { connectionId: "x", device: "d", name: "Zed" });
    await page.getByLabel("Message to the agent").fill("@pool");
    await page.getByRole("option", { name: /pool/ }).waitFor();
    found.push(...(await violations(page, "file search")));
    await page.getByLabel("Message to the agent").fill("");
    void session.ask("elicitation/create", FORM_ASK);
    await page.locator(".question-form .button[type='submit'][aria-disabled='false']").click();
    found.push(...(await violations(page, "form")));
    await page.goto(`${hub.url}#/`);
    await page.locator(".needs-you").waitFor();
    await page.getByText("Continued elsewhere (1)").click();
    found.push(...(await violations(page, "home")));
    await page.goto(`${hub.url}#/session/s9?instance=${instance.id}`);
    await page.getByRole("link", { name: "Go there" }).waitFor();
    found.push(...(await violations(page, "left session")));
    for (const [screen, title] of [
      ["devices", "Devices"],
      ["notifications", "Notifications"],
      ["settings", "Settings"],
      ["diagnostics", "Diagnostics"],
      [`files/s1?instance=${instance.id}`, "Files"],
    ] as const) {
      await goTo(page, screen, title);
      found.push(...(await violations(page, screen)));
    }
    await page.goto(`${hub.url}#/session/s1`);
    await page.getByRole("button", { name: "Session menu" }).click();
    await page.getByRole("dialog").waitFor();
    found.push(...(await violations(page, "menu")));
    expect(found).toEqual([]);
    expect(hub.reports).toEqual([]);
  });

  it("has no control on a phone that a finger misses: 44 pixels each way", async () => {
    const { hub, session, instance, open } = stage();
    fillSession(session);
    session.setTurn("running");
    hub.files.set("src/pool.ts", "export const a = 1;");
    const page = await open("Pixel");
    const found: string[] = [];
    const look = async (name: string): Promise<void> => {
      for (const each of await page.evaluate(tooSmall)) found.push(`${name}: ${each}`);
    };
    await page.getByRole("button", { name: /Run the tests/ }).waitFor();
    await look("session");
    await page.getByRole("button", { name: /Edit pool\.ts/ }).click();
    await page.locator(".diff-line").first().waitFor();
    await look("diff");
    await page.getByRole("button", { name: "To the end" }).click();
    await page.getByRole("button", { name: /Run the tests/ }).click();
    await page.locator(".terminal").waitFor();
    await look("output");
    await page.getByRole("button", { name: "Find in output" }).click();
    await page.getByLabel("Find in output", { exact: true }).and(page.locator("input")).waitFor();
    await look("find");
    void session.ask("session/request_permission", COMMAND_ASK);
    await page.locator(".option").first().waitFor();
    await look("ask");
    await page.goto(`${hub.url}#/`);
    await page.locator(".needs-you").waitFor();
    await look("home");
    for (const [screen, title] of [
      ["devices", "Devices"],
      ["notifications", "Notifications"],
      ["settings", "Settings"],
      [`files/s1?instance=${instance.id}&path=src%2Fpool.ts`, "pool.ts"],
    ] as const) {
      await goTo(page, screen, title);
      await look(screen);
    }
    expect(found).toEqual([]);
  });

  it("is driven by keyboard from the list to a decision", async () => {
    const { session, device } = stage();
    const page = await device("Laptop", { viewport: DESK });
    const answer = session.ask("session/request_permission", COMMAND_ASK);
    await page.locator(".need-line").waitFor();
    await page.keyboard.press("/");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("search");
    await page.keyboard.press("Escape");
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.locator('.session[data-attach="live"]').waitFor();
    await page.locator(".option[data-kind='reject_once'][aria-disabled='false']").waitFor();
    await page.keyboard.press("d");
    await page.keyboard.press("Enter");
    expect(await answer).toMatchObject({ result: { outcome: { optionId: "no" } } });
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  });

  it.each([
    { name: "letters of twice the size", viewport: PHONE, letters: 32 },
    { name: "a small phone", viewport: { width: 320, height: 568 }, letters: 16 },
  ])(
    "holds with $name: nothing sideways, nothing covered, every answer within reach",
    async ({ viewport, letters }) => {
      const { hub, session, device } = stage();
      fillSession(session);
      session.setTurn("running");
      const page = await device("Pixel", { viewport });
      const cdp = await page.context().newCDPSession(page);
      await cdp.send("Page.setFontSizes", { fontSizes: { standard: letters } });
      await expect
        .poll(() => page.evaluate(() => getComputedStyle(document.documentElement).fontSize))
        .toBe(`${letters}px`);
      const more = { optionId: "never", name: "Never allow git in this project", kind: "reject_always" };
      const answer = session.ask("session/request_permission", { ...COMMAND_ASK, options: [...OPTIONS, more] });
      await page.locator(".need-line").waitFor();
      const isWide = (): Promise<boolean> =>
        page.evaluate((width) => document.documentElement.scrollWidth > width, viewport.width);
      const covered = (selector: string): Promise<string[]> =>
        page.locator(selector).evaluateAll((all) =>
          all.flatMap((one) => {
            one.scrollIntoView({ block: "nearest" });
            const { left, top, width, height } = one.getBoundingClientRect();
            const hit = document.elementFromPoint(left + width / 2, top + height / 2);
            return one.contains(hit) ? [] : [`${one.textContent} under ${hit?.className}`];
          }),
        );
      expect(await isWide(), "home").toBe(false);
      expect(await covered(".home-header a, .home-header .chip")).toEqual([]);
      await page.goto(`${hub.url}#/session/s1`);
      await page.locator(".option[aria-disabled='false']").first().waitFor();
      expect(await isWide(), "session").toBe(false);
      expect(
        await covered(".sheet .option, .composer-actions button, .session-header a, .session-header button"),
      ).toEqual([]);
      await page.getByRole("button", { name: "Never allow" }).click();
      await page.getByRole("button", { name: "Tap again: Never allow" }).click();
      expect(await answer).toMatchObject({ result: { outcome: { optionId: "never" } } });
    },
  );

  it("is installable", async () => {
    const { hub, open } = stage();
    const page = await open("Pixel");
    const manifest = (await (await fetch(`${hub.url}manifest.webmanifest`)).json()) as {
      icons: { sizes: string }[];
      display: string;
    };
    expect(manifest).toMatchObject({ display: "standalone" });
    expect(manifest.icons.map((icon) => icon.sizes)).toEqual(expect.arrayContaining(["192x192", "512x512"]));
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  });
});

describe("budget", () => {
  it("initial scripts stay under 150 kB and styles under 25 kB, gzipped", async () => {
    const { hub } = stage();
    const html = await readFile(join(hub.webRoot, "index.html"), "utf8");
    const sizeOf = async (pattern: RegExp): Promise<number> => {
      let total = 0;
      for (const match of html.matchAll(pattern))
        total += gzipSync(await readFile(join(hub.webRoot, match[1] ?? ""))).length;
      return total;
    };
    const scripts = await sizeOf(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g);
    const styles = await sizeOf(/href="\.\/(assets\/[^"]+\.css)"/g);
    expect(scripts).toBeGreaterThan(50_000);
    expect(scripts).toBeLessThan(150_000);
    expect(styles).toBeGreaterThan(2000);
    expect(styles).toBeLessThan(25_000);
  });

  it.each([PHONE, DESK])(
    "nothing jumps while a session opens, the first time and again: $width wide",
    async (viewport) => {
      const { hub, session, device } = stage();
      fillSession(session);
      const page = await device("Pixel", { viewport });
      await page.addInitScript(() => {
        const state = Object.assign(window, { shift: 0 });
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) state.shift += entry.value;
        }).observe({ type: "layout-shift", buffered: true });
      });
      for (const visit of ["first", "second"]) {
        await page.goto("about:blank");
        await page.goto(`${hub.url}#/session/s1`);
        await page.locator('.session[data-attach="live"]').waitFor();
        await page.getByText("Run the tests").waitFor();
        await page.getByRole("button", { name: "Mention a file" }).waitFor();
        const shift = await page.evaluate(() => (window as unknown as { shift: number }).shift);
        expect(shift, visit).toBeLessThan(0.05);
      }
    },
  );

  it("is a handful of files: a browser fetches six at a time, and what is needed first must not wait for a place", async () => {
    const html = await readFile(join(stage().hub.webRoot, "index.html"), "utf8");
    expect(
      [...html.matchAll(/(?:src|href)="\.\/assets\/([a-z-]+?)-[\w-]{8}\.(?:js|css)"/g)].map(([, name]) => name).sort(),
    ).toEqual(["app", "core", "react", "rolldown-runtime", "screens", "style"]);
  });

  it("loads highlighters, diffs, terminals, QR codes, questions and menus only when they are met", async () => {
    const { hub } = stage();
    const html = await readFile(join(hub.webRoot, "index.html"), "utf8");
    const files = await readdir(join(hub.webRoot, "assets"));
    for (const part of ["highlight", "diff-view", "terminal-view", "qr-code", "question-card", "session-menu"]) {
      expect(files.some((file) => file.startsWith(`${part}-`))).toBe(true);
      expect(html).not.toContain(`${part}-`);
    }
  });
});
