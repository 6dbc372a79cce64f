/** What every browser test stands on: the built app, a fake hub with one session, and a browser. Released after the file. */
import { rm } from "node:fs/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type DeviceOptions, launchBrowser, newDevice, pairDevice } from "./browser.ts";
import { FakeHub, type FakeInstance } from "./fake-hub.ts";
import type { FakeSession } from "./fake-hub-session.ts";
import { buildWeb } from "./web-build.ts";

export interface Stage {
  readonly hub: FakeHub;
  readonly instance: FakeInstance;
  readonly session: FakeSession;
  readonly browser: Browser;
  /** A paired device on the home screen. */
  device(
    name: string,
    options?: DeviceOptions & { readonly preset?: Parameters<FakeHub["pairing"]>[1] },
  ): Promise<Page>;
  /** A paired device in the session. */
  open(name: string, options?: DeviceOptions & { readonly preset?: Parameters<FakeHub["pairing"]>[1] }): Promise<Page>;
  context(options?: DeviceOptions): Promise<BrowserContext>;
  /** Errors no page may have. */
  readonly pageErrors: string[];
}

/** Call once per file; the answer gives the stage of the running test. */
export function setStage(): () => Stage {
  let webRoot = "";
  let browser: Browser | undefined;
  let stage: Stage | undefined;
  let contexts: BrowserContext[] = [];
  let codes = 0;
  beforeAll(async () => {
    webRoot = await buildWeb();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await rm(webRoot, { recursive: true, force: true });
  });
  beforeEach(async () => {
    const hub = new FakeHub(webRoot);
    await hub.start();
    const instance = hub.addInstance("Claude", "/work/relay");
    const session = hub.addSession(instance, "s1", "Fix hanging clients");
    const pageErrors: string[] = [];
    if (browser === undefined) throw new Error("no browser");
    const running = browser;
    const context = async (options: DeviceOptions = {}): Promise<BrowserContext> => {
      const made = await newDevice(running, options);
      made.on("page", (page) => page.on("pageerror", (error) => pageErrors.push(error.message)));
      contexts.push(made);
      return made;
    };
    const device: Stage["device"] = async (name, options = {}) => {
      codes += 1;
      return pairDevice(await context(options), hub.pairing(`CODE${codes}`, options.preset), name);
    };
    const open: Stage["open"] = async (name, options) => {
      const page = await device(name, options);
      await page.goto(`${hub.url}#/session/s1`);
      await page.locator('.session[data-attach="live"]').waitFor();
      return page;
    };
    stage = { hub, instance, session, browser: running, device, open, context, pageErrors };
  });
  afterEach(async () => {
    for (const context of contexts) await context.close();
    contexts = [];
    await stage?.hub.kill();
    const errors = stage?.pageErrors ?? [];
    if (errors.length > 0) throw new Error(`uncaught in the page: ${errors.join("; ")}`);
  });
  return () => {
    if (stage === undefined) throw new Error("no stage yet");
    return stage;
  };
}
