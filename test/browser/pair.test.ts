import { describe, expect, it } from "vitest";
import { setStage } from "../support/web-stage.ts";

const stage = setStage();

describe("pairing", () => {
  it("pairs by the link and leaves no code in the address", async () => {
    const page = await stage().device("Pixel");
    await expect.poll(() => page.url()).toBe(`${stage().hub.url}#/`);
    expect([...stage().hub.devices.values()][0]?.name).toBe("Pixel");
    await page.reload();
    await page.getByRole("heading", { name: "acp-hub" }).waitFor();
  });

  it("takes the text code where no link was opened", async () => {
    const { hub, context } = stage();
    hub.pairing("TYPED");
    const page = await (await context()).newPage();
    await page.goto(hub.url);
    await page.getByLabel("Pairing code").fill("TYPED");
    await page.getByRole("button", { name: "Pair", exact: true }).click();
    await page.getByText("Fix hanging clients").waitFor();
  });

  it("says so when a code was used already", async () => {
    const { hub, device, context } = stage();
    await device("First");
    const used = [...hub.usedCodes][0] ?? "";
    const page = await (await context()).newPage();
    await page.goto(`${hub.url}#pair=${used}`);
    await page.getByRole("button", { name: "Pair", exact: true }).click();
    await page.getByText("This code does not work any more").waitFor();
    expect(hub.devices.size).toBe(1);
  });

  it("says so when a code is unknown", async () => {
    const { hub, context } = stage();
    const page = await (await context()).newPage();
    await page.goto(`${hub.url}#pair=NOPE`);
    await page.getByRole("button", { name: "Pair", exact: true }).click();
    await page.getByText("This code does not work any more").waitFor();
  });

  it("a revoked device is told at once and can pair again", async () => {
    const { hub, open } = stage();
    const page = await open("Pixel");
    hub.revoke([...hub.devices.keys()][0] ?? "");
    await page.getByText("This device is no longer paired").waitFor();
    hub.pairing("AGAIN");
    await page.getByLabel("Pairing code").fill("AGAIN");
    await page.getByRole("button", { name: "Pair", exact: true }).click();
    await page.locator('.session[data-attach="live"], .home').first().waitFor();
  });

  it("pairs the next device from this one, with a QR code", async () => {
    const { hub, device } = stage();
    const page = await device("Pixel");
    await page.goto(`${hub.url}#/devices`);
    await page.getByRole("button", { name: "Pair another device" }).click();
    await page.getByLabel(/Watch and approve/).check();
    await page.getByRole("button", { name: "Make a code" }).click();
    await page.getByRole("img", { name: "Pairing link as a QR code" }).waitFor();
    await page.getByText("NEXT-CODE").waitFor();
    expect(hub.codes.get("NEXT-CODE")).toEqual(["sessions:read", "interactions:answer"]);
  });
});
