/** A real browser reads the frames the hub compressed once for all. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { setHubStage } from "../support/hub-stage.ts";
import { openSession, textPrompt } from "../support/stage.ts";

beforeAll(() => {
  process.env["ACP_HUB_HTTP_COMPRESSION"] = "true";
});
afterAll(() => {
  delete process.env["ACP_HUB_HTTP_COMPRESSION"];
});

const stage = setHubStage();

it("the app shows a long session that came compressed, and goes on live", async () => {
  const { editor } = stage().stage.home.bridge(["demo"]);
  const sessionId = await stage().stage.known(await openSession(editor));
  for (let turn = 0; turn < 5; turn += 1) await editor.call("session/prompt", textPrompt(sessionId, "hello"));
  const page = await stage().device("Pixel");
  await page.addInitScript(() => {
    const Own = globalThis.WebSocket;
    const opened: WebSocket[] = [];
    Object.assign(globalThis, { opened });
    globalThis.WebSocket = class extends Own {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        opened.push(this);
      }
    };
  });
  await page.goto(`${stage().url}#/session/${sessionId}`);
  await page.reload();
  await page.locator('.session[data-attach="live"]').waitFor();
  const extensions = await page.evaluate(() =>
    (globalThis as unknown as { opened: WebSocket[] }).opened.map((socket) => socket.extensions),
  );
  expect(extensions.join()).toContain("permessage-deflate");
  await expect.poll(() => page.getByText("This is the demo agent").count(), { timeout: 15_000 }).toBeGreaterThan(1);
  await editor.call("session/prompt", textPrompt(sessionId, "plan"));
  await page.locator(".plan").waitFor();
});
