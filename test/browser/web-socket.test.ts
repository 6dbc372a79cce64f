import { writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser } from "../support/browser.ts";
import { type ForeignPages, servePages } from "../support/foreign-page.ts";
import { type Shared, Stage } from "../support/stage.ts";

const SCRIPT = { turns: [[{ say: "I look. " }, { ask: true }, { say: "It was $answer." }]] };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
}

interface Talk {
  readonly protocol: string;
  readonly isText: boolean;
  readonly messages: readonly Message[];
}

type Calls = readonly (readonly [method: string, params: object])[];

/** In the page: a client of a dozen lines on the browser's own WebSocket, which allows whatever it is asked. */
function talk(init: { url: string; protocols: string[]; calls: Calls }): Promise<Talk | number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(init.url, init.protocols);
    const messages: Message[] = [];
    let isText = true;
    const next = (): void => {
      const id = messages.filter((message) => message.result !== undefined).length;
      const call = init.calls[id];
      if (call !== undefined) socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: call[0], params: call[1] }));
      else resolve({ protocol: socket.protocol, isText, messages });
    };
    socket.onopen = next;
    socket.onclose = ({ code }) => resolve(code);
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      isText &&= typeof data === "string";
      const message = JSON.parse(data) as Message;
      messages.push(message);
      const answer = { outcome: { outcome: "selected", optionId: "allow" } };
      if (message.result !== undefined) next();
      else if (message.id !== undefined)
        socket.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer }));
    };
  });
}

const INITIALIZE: Calls = [["initialize", { protocolVersion: 1, clientCapabilities: {} }]];

describe("a browser's own WebSocket, in a page of another origin", () => {
  const stage = new Stage();
  let browser: Browser;
  let pages: ForeignPages;
  let stranger: ForeignPages;
  let shared: Shared;
  beforeAll(async () => {
    browser = await launchBrowser();
    [pages, stranger] = await Promise.all([servePages(), servePages()]);
    writeFileSync(stage.paths.configFile, JSON.stringify({ http: { origins: [pages.origin] } }), { mode: 0o600 });
    await stage.serve();
    shared = await stage.share(SCRIPT);
    await stage.known(shared.sessionId);
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([pages.stop(), stranger.stop()]);
    await stage.end();
  });

  const pageAt = async (origin: string): Promise<Page> => {
    const page = await browser.newPage();
    await page.goto(origin);
    return page;
  };

  it("C2.carriers X2 loads, prompts and allows with the bearer among its subprotocols; `acp` is what it is told", async () => {
    const { editor, sessionId } = shared;
    const page = await pageAt(pages.origin);
    const calls: Calls = [
      ...INITIALIZE,
      ["session/load", { sessionId, cwd: "/", mcpServers: [] }],
      ["session/prompt", { sessionId, prompt: [{ type: "text", text: "from a browser" }] }],
    ];
    const spoken = await page.evaluate(talk, {
      url: stage.acp(),
      protocols: ["acp", `bearer.${await stage.token("driver")}`],
      calls,
    });
    if (typeof spoken === "number") throw new Error(`closed with ${spoken}`);
    expect(spoken).toMatchObject({ protocol: "acp", isText: true });
    expect(spoken.messages.at(-1)).toMatchObject({ id: 2, result: { stopReason: "end_turn" } });
    // The editor has its own pipe.
    await expect.poll(() => editor.textOf("user_message_chunk")).toBe("from a browser");
    await expect.poll(() => editor.textOf("agent_message_chunk")).toContain('"optionId":"allow"');
    await page.close();
  });

  it("C2.carriers takes the bearer alone too, refuses a wrong one, and any of an origin nobody named", async () => {
    const bearer = `bearer.${await stage.token("viewer")}`;
    const page = await pageAt(pages.origin);
    const call = { url: stage.acp(), calls: INITIALIZE };
    expect(await page.evaluate(talk, { ...call, protocols: [bearer] })).toMatchObject({ protocol: bearer });
    expect(await page.evaluate(talk, { ...call, protocols: ["acp", "bearer.nonsense"] })).toBe(1006);
    const other = await pageAt(stranger.origin);
    expect(await other.evaluate(talk, { ...call, protocols: ["acp", bearer] })).toBe(1006);
    await Promise.all([page.close(), other.close()]);
  });

  it("C3.devices a revoked token closes it, with the code that says so", async () => {
    const made = await stage.api("POST", "/api/tokens", { scope: "viewer", name: "page" });
    const { deviceId, token } = made.body as { deviceId: string; token: string };
    const page = await pageAt(pages.origin);
    const closed = page.evaluate(
      ([url, protocol]) =>
        new Promise<number>((resolve) => {
          const socket = new WebSocket(url, ["acp", protocol]);
          socket.onopen = () =>
            socket.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}');
          socket.onmessage = () => {
            document.title = "ready";
          };
          socket.onclose = ({ code }) => resolve(code);
        }),
      [stage.acp(), `bearer.${token}`] as const,
    );
    await page.waitForFunction(() => document.title === "ready");
    await stage.api("DELETE", `/api/devices/${deviceId}`);
    expect(await closed).toBe(4401);
    await page.close();
  });
});
