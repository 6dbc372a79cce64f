/** Copying where the page has no clipboard of its own: over plain HTTP, as on most home networks. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { setStage } from "../support/web-stage.ts";

const stage = setStage();

/** A device on plain HTTP: the browser keeps its clipboard from the page. The test still reads it. */
async function plainDevice(): Promise<Page> {
  const { hub, context } = stage();
  const made = await context();
  await made.grantPermissions(["clipboard-read", "clipboard-write"]);
  await made.addInitScript(() => {
    const { clipboard } = navigator;
    Object.assign(window, { readClipboard: () => clipboard.readText() });
    Object.defineProperty(Navigator.prototype, "clipboard", { get: () => undefined });
  });
  const page = await made.newPage();
  await page.goto(hub.pairing("PLAIN"));
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await page.getByRole("heading", { name: "acp-hub" }).waitFor();
  return page;
}

const clipboard = (page: Page): Promise<string> =>
  page.evaluate(() => (window as unknown as { readClipboard(): Promise<string> }).readClipboard());

describe("copying over plain HTTP", () => {
  it("copies a pairing link out of its dialog, and leaves the focus there", async () => {
    const { hub } = stage();
    const page = await plainDevice();
    await page.goto(`${hub.url}#/devices`);
    await page.getByRole("button", { name: "Pair another device" }).click();
    await page.getByRole("button", { name: "Make a code" }).click();
    const button = page.getByRole("button", { name: "Copy the link" });
    await button.click();
    await page.getByText("Copied").waitFor();
    expect(await clipboard(page)).toBe(`${hub.url}#pair=NEXT-CODE`);
    await expect.poll(() => page.evaluate(() => document.activeElement?.matches("dialog .button"))).toBe(true);
  });

  it("does not say that it copied what the browser refused to", async () => {
    const { session, hub } = stage();
    session.text("```ts\nconst a = 1;\n```");
    const page = await plainDevice();
    await page.evaluate(() => {
      document.execCommand = () => false;
    });
    await page.goto(`${hub.url}#/session/s1`);
    await page.getByRole("button", { name: "Copy code" }).click();
    await page.getByText("Not copied").waitFor();
    expect(await page.getByText("Copied", { exact: true }).count()).toBe(0);
  });
});
