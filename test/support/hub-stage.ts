/** The app against the hub itself: the built program, an agent in an editor, browsers. Everything is ended after each test. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type DeviceOptions, launchBrowser, newDevice, pairDevice } from "./browser.ts";
import { Stage } from "./stage.ts";

type Serving = Awaited<ReturnType<Stage["serve"]>>;

export class HubStage {
  readonly stage: Stage = new Stage();
  hub: Serving | undefined;
  /** Errors and policy violations no page may have. */
  readonly faults: string[] = [];
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  get url(): string {
    return `${this.stage.url}/`;
  }

  async serve(): Promise<void> {
    this.hub = await this.stage.serve();
  }

  /** Ends the hub as a crash does. */
  async kill(): Promise<void> {
    const child = this.hub?.child;
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child?.kill("SIGKILL");
    await ended;
  }

  /** Starts it again where it was. */
  async revive(): Promise<void> {
    this.hub = await this.stage.serve(["--port", String(this.hub?.port)]);
  }

  /** A pairing link of the hub. */
  async link(preset: string): Promise<string> {
    const made = await this.stage.api("POST", "/api/pairings", { scope: preset });
    return String((made.body as JsonObject)["url"]);
  }

  async device(name: string, preset = "driver", options: DeviceOptions = {}): Promise<Page> {
    const context = await newDevice(this.#browser, options);
    this.#contexts.push(context);
    context.on("page", (page) => {
      page.on("pageerror", (error) => this.faults.push(error.message));
      page.on("console", (message) => {
        if (message.text().includes("Content Security Policy")) this.faults.push(message.text());
      });
    });
    return pairDevice(context, await this.link(preset), name);
  }

  /** A paired device in a session. */
  async open(name: string, sessionId: string, preset = "driver", options: DeviceOptions = {}): Promise<Page> {
    const page = await this.device(name, preset, options);
    await page.goto(`${this.url}#/session/${sessionId}`);
    await page.locator('.session[data-attach="live"]').waitFor();
    return page;
  }

  async end(): Promise<void> {
    for (const context of this.#contexts) await context.close();
    await this.stage.end();
    if (this.faults.length > 0) throw new Error(`in the page: ${this.faults.join("; ")}`);
  }
}

/** Call once per file; the answer gives the stage of the running test. */
export function setHubStage(): () => HubStage {
  let browser: Browser | undefined;
  let stage: HubStage | undefined;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    if (browser === undefined) throw new Error("no browser");
    stage = new HubStage(browser);
    await stage.serve();
  });
  afterEach(() => stage?.end());
  return () => {
    if (stage === undefined) throw new Error("no stage yet");
    return stage;
  };
}
