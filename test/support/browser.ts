/** A real browser for the app's tests: one per file, a fresh profile per test, everything released in the end. */
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

export const PHONE = { width: 390, height: 844 } as const;
export const DESK = { width: 1280, height: 800 } as const;

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
    headless: true,
    args: ARGS,
  });
}

export interface DeviceOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
  readonly isTouch?: boolean;
}

/** A browser profile as a device has it; its pages fail the test on an uncaught error. */
export async function newDevice(browser: Browser, options: DeviceOptions = {}): Promise<BrowserContext> {
  const viewport = options.viewport ?? PHONE;
  const isPhone = viewport.width < 600;
  const context = await browser.newContext({
    viewport,
    colorScheme: options.colorScheme ?? "light",
    hasTouch: options.isTouch ?? isPhone,
    isMobile: isPhone,
    deviceScaleFactor: isPhone ? 2 : 1,
    reducedMotion: "reduce",
    locale: "en-GB",
  });
  context.setDefaultTimeout(15_000);
  return context;
}

/** Opens a pairing link and pairs; gives the page on the home screen. */
export async function pairDevice(context: BrowserContext, link: string, name: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(link);
  await page.getByLabel("Name of this device").fill(name);
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await page.getByRole("heading", { name: "acp-hub" }).waitFor();
  return page;
}
