import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { constants, inflateRawSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { compressedFrames, takesCompressed } from "../../../src/transport/ws-compression.ts";
import { encodeTextFrame, encodeTextFrames } from "../../../src/transport/ws-frames.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

const prose = (chars: number): string =>
  "the agent reads a file and says what it found. ".repeat(chars / 47 + 1).slice(0, chars);

/** Text no compression helps with: every character costs three bytes and none repeats soon. */
function noise(chars: number): string {
  let state = 7;
  return Array.from({ length: chars }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return String.fromCharCode(0x4e00 + (state % 20_000));
  }).join("");
}

describe("frames that were compressed once for all", () => {
  it("are read by a WebSocket client, between plain ones and the library's own pings, in order", async () => {
    const http = createServer();
    const wss = new WebSocketServer({
      noServer: true,
      perMessageDeflate: { serverNoContextTakeover: true, clientNoContextTakeover: true },
    });
    const sizes = Array.from({ length: 400 }, (_, index) => [20, 1023, 1024, 5000, 70_000, 140_000][index % 6] ?? 0);
    const texts = sizes.map((size, index) => `${index} ${prose(size)}`);
    http.on("upgrade", (request, socket, head) =>
      wss.handleUpgrade(request, socket, head, (ws) => {
        for (let at = 0; at < texts.length; at += 7) {
          socket.write(compressedFrames(encodeTextFrames(texts.slice(at, at + 7))));
          ws.ping();
        }
        ws.close(1013, "slow");
      }),
    );
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => http.close());
    const { port } = http.address() as AddressInfo;
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    const got: string[] = [];
    let pings = 0;
    client.on("message", (data) => got.push(String(data)));
    client.on("ping", () => {
      pings += 1;
    });
    const code = await new Promise((resolve) => client.on("close", resolve));
    expect(client.extensions).toBe("permessage-deflate");
    expect(got).toEqual(texts);
    expect([code, pings]).toEqual([1013, Math.ceil(texts.length / 7)]);
  });

  it("are a fraction of what they were", () => {
    expect(compressedFrames(encodeTextFrame(prose(18_000))).length).toBeLessThan(1000);
  });

  it("are made once per buffer, whoever asks", () => {
    const frames = encodeTextFrame(prose(5000));
    expect(compressedFrames(frames)).toBe(compressedFrames(frames));
  });

  it.each([
    ["small", prose(1000)],
    ["too large to hold everybody up for", prose(1_100_000)],
    [
      "no smaller when compressed",
      Buffer.from(noise(1200)).toString("base64").slice(0, 1100).split("").reverse().join(""),
    ],
  ])("leave alone what is %s", (what, text) => {
    const frames = encodeTextFrame(text);
    const made = compressedFrames(frames);
    if (what.startsWith("no smaller")) expect(made.length).toBeLessThanOrEqual(frames.length);
    else expect(made).toBe(frames);
  });

  it("hold the message and nothing of those before it", () => {
    const [first, second] = [prose(3000), `${prose(3000)} and more`].map((text) =>
      compressedFrames(encodeTextFrame(text)),
    );
    for (const frame of [first, second]) {
      const payload = frame?.subarray((frame[1] ?? 0) < 126 ? 2 : 4) ?? Buffer.alloc(0);
      const whole = Buffer.concat([payload, Buffer.from([0, 0, 0xff, 0xff])]);
      expect(String(inflateRawSync(whole, { finishFlush: constants.Z_SYNC_FLUSH }))).toContain(prose(3000));
    }
  });

  it("refuses to guess: what is no plain whole text frame is a fault of ours", () => {
    const frames = Buffer.concat([Buffer.from([0x01, 0x02, 0x61, 0x62]), Buffer.alloc(2000)]);
    expect(() => compressedFrames(frames)).toThrow(TypeError);
  });
});

describe("who takes compressed frames", () => {
  it.each([
    [undefined, false],
    ["permessage-deflate; server_no_context_takeover; client_no_context_takeover", true],
    ["permessage-deflate; server_no_context_takeover; server_max_window_bits=15", true],
    ["permessage-deflate; server_no_context_takeover; server_max_window_bits=10", false],
    ["permessage-deflate; client_no_context_takeover", false],
    ["permessage-deflate", false],
    ["another-extension; server_no_context_takeover", false],
  ])("%s: %s", (header, expected) => {
    expect(takesCompressed(header)).toBe(expected);
  });
});
