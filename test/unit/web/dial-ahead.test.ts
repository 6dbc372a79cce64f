import { beforeEach, describe, expect, it, vi } from "vitest";
import { type FetchInit, overWebSocket, type SocketHandlers } from "../../../src/client/index.ts";
import { dialAhead, dialingWith } from "../../../src/web/app/dial-ahead.ts";

/** A socket as the browser has them, moved by hand. */
class FakeSocket {
  static made: FakeSocket[] = [];
  readonly url: string;
  readonly protocols: readonly string[];
  readyState = 0;
  readonly sent: string[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null;
  onerror: (() => void) | null = null;

  constructor(url: string, protocols: readonly string[]) {
    this.url = url;
    this.protocols = protocols;
    FakeSocket.made.push(this);
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.readyState = 3;
    this.onclose?.({ code: 1000, reason: "" });
  }
}

const BASE = "https://hub.example/base/";

/** What a socket's owner hears, in order. */
function listener(): { readonly heard: string[]; readonly handlers: SocketHandlers } {
  const heard: string[] = [];
  const handlers: SocketHandlers = {
    onOpen: () => void heard.push("open"),
    onText: (text) => void heard.push(text),
    onClose: ({ code }) => void heard.push(`close ${code}`),
  };
  return { heard, handlers };
}

const usual = () => {
  const opened: string[] = [];
  return {
    opened,
    dial: () => Promise.resolve({ url: "wss://usual" }),
    openSocket: (url: string) => {
      opened.push(url);
      return { send: () => undefined, close: () => undefined };
    },
  };
};

describe("a dial ahead", () => {
  const ask = vi.fn<(url: string, init: FetchInit) => Promise<Response>>();
  const dial = () => dialAhead(BASE, "secret", { fetch: ask, WebSocket: FakeSocket });
  beforeEach(() => {
    FakeSocket.made = [];
    ask.mockReset();
    ask.mockImplementation(() => Promise.resolve(Response.json({ ticket: "t+1" })));
  });

  const begun = async () => {
    const ahead = dial();
    await ahead;
    const other = usual();
    const dialing = dialingWith(ahead, overWebSocket, other);
    return { dialing, other, socket: FakeSocket.made[0] as FakeSocket };
  };

  it("asks for a ticket with the key of the device, and opens a socket with it", async () => {
    await dial();
    expect(ask.mock.calls[0]?.[0]).toBe(`${BASE}api/ws-ticket`);
    expect(ask.mock.calls[0]?.[1]).toMatchObject({ method: "POST", headers: { "X-Acp-Hub-Key": "secret" } });
    expect(FakeSocket.made).toMatchObject([{ url: "wss://hub.example/base/acp?ticket=t%2B1", protocols: ["acp"] }]);
  });

  it.each([
    ["is refused", () => Promise.resolve(new Response("{}", { status: 401 }))],
    ["is nonsense", () => Promise.resolve(new Response("<html>"))],
    ["has no ticket", () => Promise.resolve(Response.json({}))],
    ["never comes", () => Promise.reject(new TypeError("no network"))],
  ])("is none where the ticket %s: the client dials as usual, and tells", async (_case, answer) => {
    ask.mockImplementation(answer);
    const ahead = dial();
    expect(await ahead).toBeUndefined();
    const other = usual();
    const dialing = dialingWith(ahead, overWebSocket, other);
    expect(await dialing.dial()).toEqual({ url: "wss://usual" });
    dialing.openSocket("wss://usual", [], listener().handlers);
    expect(other.opened).toEqual(["wss://usual"]);
  });

  it("is taken by the first dial, whether it is open by then or not", async () => {
    for (const isOpen of [true, false]) {
      FakeSocket.made = [];
      const { dialing, other, socket } = await begun();
      if (isOpen) socket.open();
      const { url, protocols = [] } = await dialing.dial();
      const { heard, handlers } = listener();
      const owned = dialing.openSocket(url, protocols, handlers);
      // Never within the call: the owner has no socket to answer on yet.
      expect(heard).toEqual([]);
      if (!isOpen) socket.open();
      await Promise.resolve();
      owned.send("hello");
      socket.onmessage?.({ data: "welcome" });
      owned.close(1000, "");
      expect(heard).toEqual(["open", "welcome", "close 1000"]);
      expect(socket.sent).toEqual(["hello"]);
      expect(other.opened).toEqual([]);
      expect(await dialing.dial()).toEqual({ url: "wss://usual" });
    }
  });

  it("that ended before anyone wanted it is not taken", async () => {
    const { dialing, socket } = await begun();
    socket.close();
    expect(await dialing.dial()).toEqual({ url: "wss://usual" });
  });

  it("that was given up after the dial does not stay open", async () => {
    const { dialing, other, socket } = await begun();
    await dialing.dial();
    const target = await dialing.dial();
    dialing.openSocket(target.url, [], listener().handlers);
    expect(other.opened).toEqual(["wss://usual"]);
    expect(socket.readyState).toBe(3);
  });
});
