import type { CDPSession, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { COMMAND_ASK, DIFF_ASK } from "../support/fake-scenes.ts";
import { setStage } from "../support/web-stage.ts";
import { workerReady } from "./in-page.ts";

const stage = setStage();

/** How long a fact is waited for. */
const WAIT = { timeout: 10_000 };

const wishes = () => [...stage().hub.push.preferences.values()][0];

/** What the page says of being seen, as a phone in a pocket says it. */
const setVisibility = (page: Page, state: "visible" | "hidden"): Promise<void> =>
  page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

/** Hands the service worker a push as the browser does once it has decrypted one. */
async function deliverPush(page: Page, message: object): Promise<void> {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  const registration = new Promise<{ registrationId: string }>((resolve) => {
    cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [first] = registrations;
      if (first !== undefined) resolve(first);
    });
  });
  await cdp.send("ServiceWorker.enable");
  const { registrationId } = await registration;
  const origin = new URL(page.url()).origin;
  await cdp.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data: JSON.stringify(message) });
}

const shown = (page: Page): Promise<{ title: string; body: string; tag: string; url: string }[]> =>
  page.evaluate(async () => {
    const showing = await (await navigator.serviceWorker.ready).getNotifications();
    return showing.map(({ title, body, tag, data }) => ({ title, body, tag, url: (data as { url: string }).url }));
  });

describe("notifications", () => {
  it("sets quiet hours by this device's clock, changes and ends them", async () => {
    const { hub, device } = stage();
    const page = await device("Pixel");
    await page.goto(`${hub.url}#/notifications`);
    await page.getByLabel("Leave this device alone at night").check();
    await page.getByText("Saved").waitFor();
    const timeZone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
    const night = { from: "22:00", to: "07:00", letsQuestionsThrough: false, timeZone };
    expect(wishes()?.quietHours).toEqual(night);
    await page.getByLabel("From").fill("21:30");
    await page.getByLabel("To", { exact: true }).focus();
    await page.getByLabel("Let questions through").check();
    await expect
      .poll(() => wishes()?.quietHours, WAIT)
      .toEqual({ ...night, from: "21:30", letsQuestionsThrough: true });
    await page.reload();
    await expect.poll(() => page.getByLabel("From").inputValue(), WAIT).toBe("21:30");
    await page.getByLabel("Leave this device alone at night").uncheck();
    await expect.poll(() => wishes()?.quietHours, WAIT).toBeUndefined();
  });

  it("quiet hours go with the device into another time zone", async () => {
    const { hub, device } = stage();
    const page = await device("Pixel");
    const [id = ""] = hub.devices.keys();
    hub.push.preferences.set(id, {
      quietHours: { from: "22:00", to: "07:00", timeZone: "Pacific/Auckland", letsQuestionsThrough: true },
      mutedSessions: [],
    });
    await page.reload();
    const timeZone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
    await expect.poll(() => wishes()?.quietHours?.timeZone, WAIT).toBe(timeZone);
  });

  it("mutes a session in its menu and lists it on the page, for this device alone", async () => {
    const { hub, open } = stage();
    const page = await open("Pixel");
    await page.getByRole("button", { name: "Session menu" }).click();
    await page.getByRole("button", { name: "Mute notifications here" }).click();
    await page.getByRole("button", { name: "Unmute notifications" }).waitFor();
    await expect.poll(() => wishes()?.mutedSessions, WAIT).toEqual(["s1"]);
    await page.goto(`${hub.url}#/notifications`);
    await page.getByRole("button", { name: "Unmute Fix hanging clients" }).click();
    await expect.poll(() => wishes()?.mutedSessions, WAIT).toEqual([]);
    await expect.poll(() => page.getByText("Muted sessions").count(), WAIT).toBe(0);
    const other = await open("Laptop");
    await other.getByRole("button", { name: "Session menu" }).click();
    await other.getByRole("button", { name: "Mute notifications here" }).waitFor();
  });

  it("tells the hub what is on this screen, and that a page in a pocket shows nothing", async () => {
    const { hub, open } = stage();
    const page = await open("Pixel");
    const told = () => hub.push.seen.map(({ sessionId }) => sessionId);
    await expect.poll(told, WAIT).toEqual(["s1"]);
    await setVisibility(page, "hidden");
    await expect.poll(told, WAIT).toEqual(["s1", undefined]);
    await setVisibility(page, "visible");
    await expect.poll(told, WAIT).toEqual(["s1", undefined, "s1"]);
    await page.goto(`${hub.url}#/settings`);
    await expect.poll(told, WAIT).toEqual(["s1", undefined, "s1", undefined]);
  });

  it("a hidden page without push notifies by itself, of sessions that are not muted", async () => {
    const { hub, instance, session, open } = stage();
    const other = hub.addSession(instance, "s2", "Another");
    const page = await open("Pixel");
    await page.context().grantPermissions(["notifications"]);
    await workerReady(page);
    await setVisibility(page, "hidden");
    const [id = ""] = hub.devices.keys();
    void session.ask("session/request_permission", COMMAND_ASK);
    await expect.poll(() => shown(page), WAIT).toMatchObject([{ title: "Needs you", body: "Push the branch" }]);
    hub.push.preferences.set(id, { quietHours: undefined, mutedSessions: ["s1"] });
    await page.reload();
    await page.locator('.session[data-attach="live"]').waitFor();
    await setVisibility(page, "hidden");
    void session.ask("session/request_permission", COMMAND_ASK);
    await page.getByText("1 of 2").waitFor();
    // One of a session that is not muted comes behind it.
    void other.ask("session/request_permission", DIFF_ASK);
    const bodies = async (): Promise<string[]> => (await shown(page)).map(({ body }) => body).sort();
    await expect.poll(bodies, WAIT).toEqual(["Push the branch", "Write src/pool.ts"]);
    expect((await shown(page)).map(({ tag }) => tag).sort()).toEqual(["s1-i1", "s2-i1"]);
  });

  it("tells of a question that came while the list was on its way, and of none from before the page", async () => {
    const { session, open } = stage();
    const page = await open("Pixel");
    await page.context().grantPermissions(["notifications"]);
    await workerReady(page);
    void session.ask("session/request_permission", COMMAND_ASK);
    await page.getByText("Push the branch").first().waitFor();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/api/i*", async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    await page.locator('.session[data-attach="live"]').waitFor();
    await setVisibility(page, "hidden");
    void session.ask("session/request_permission", COMMAND_ASK);
    await page.getByText("1 of 2").waitFor();
    release();
    await expect.poll(() => shown(page), WAIT).toHaveLength(1);
    const [newest] = [...session.asks.values()].slice(-1);
    expect(await shown(page)).toMatchObject([{ tag: newest?.interactionId }]);
  });

  it("the service worker shows a push, and an unreadable one in general words", async () => {
    const { hub, open } = stage();
    const page = await open("Pixel");
    await page.context().grantPermissions(["notifications"]);
    await workerReady(page);
    const message = { kind: "needs-you", title: "Needs you", body: "X waits for your answer", tag: "ask-1" };
    await deliverPush(page, { ...message, url: "#/session/s1" });
    await expect
      .poll(() => shown(page), WAIT)
      .toEqual([{ title: "Needs you", body: "X waits for your answer", tag: "ask-1", url: "#/session/s1" }]);
    await deliverPush(page, { ...message, body: "Y waits for your answer", url: "#/session/s2" });
    await expect
      .poll(async () => (await shown(page)).map(({ body }) => body), WAIT)
      .toEqual(["Y waits for your answer"]);
    expect(hub.reports).toEqual([]);
  });
});
