// A WebSocket client that only counts: handshake by hand, frame headers walked, payloads looked at no more than is needed, so
// that the driver costs as little as it can.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { constants, inflateRawSync } from "node:zlib";
import { agentText } from "./agent-text.mjs";
import { END_MARK } from "./burst-agent.mjs";
import { micros } from "./measure.mjs";

const COMPRESSED = 0x40;
const FLUSH_TAIL = Buffer.from([0, 0, 0xff, 0xff]);
const inflated = (payload) =>
  inflateRawSync(Buffer.concat([payload, FLUSH_TAIL]), { finishFlush: constants.Z_SYNC_FLUSH });

const END = Buffer.from(END_MARK);

/** A client frame, masked with zeros. */
function clientFrame(text) {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}

export class CountingClient {
  frames = 0;
  bytes = 0;
  firstAt = 0;
  endedAt = 0;
  latencies = undefined;
  /** The texts of the round, one after the other, when asked for. */
  said = undefined;
  #socket;
  #rest = Buffer.alloc(0);
  #isOpen = false;
  #onEnd = () => undefined;
  #onLost = () => undefined;
  #onText = undefined;

  /** Resolves once the upgrade is accepted. */
  static async open(port, path, headers = {}) {
    const client = new CountingClient();
    await client.#open(port, path, headers);
    return client;
  }

  send(text) {
    this.#socket.write(clientFrame(text));
  }

  /** Starts a round: resolves when the update that ends it has come; rejects when the other side closes before. */
  round({ withLatency = false, withText = false } = {}) {
    this.frames = 0;
    this.bytes = 0;
    this.firstAt = 0;
    this.endedAt = 0;
    this.latencies = withLatency ? [] : undefined;
    this.said = withText ? "" : undefined;
    return new Promise((resolve, reject) => {
      this.#onEnd = resolve;
      this.#onLost = () => reject(new Error(`closed after ${this.frames} frames`));
    });
  }

  /** Calls back with each payload as text: for handshakes, not for rounds. */
  listen(onText) {
    this.#onText = onText;
  }

  pause() {
    this.#socket.pause();
  }

  resume() {
    this.#socket.resume();
  }

  close() {
    this.#onLost = () => undefined;
    this.#socket.destroy();
  }

  #open(port, path, headers) {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      this.#socket = socket;
      socket.on("error", reject);
      socket.on("close", () => this.#onLost());
      const lines = Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("");
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n${lines}\r\n`,
      );
      socket.on("data", (chunk) => {
        if (this.#isOpen) return this.#onData(chunk);
        this.#rest = Buffer.concat([this.#rest, chunk]);
        const end = this.#rest.indexOf("\r\n\r\n");
        if (end < 0) return undefined;
        if (!this.#rest.subarray(0, 12).toString().includes("101")) return reject(new Error(this.#rest.toString()));
        this.#isOpen = true;
        socket.setNoDelay(true);
        const tail = this.#rest.subarray(end + 4);
        this.#rest = Buffer.alloc(0);
        resolve();
        return tail.length > 0 ? this.#onData(tail) : undefined;
      });
    });
  }

  #onData(chunk) {
    if (this.firstAt === 0) this.firstAt = performance.now();
    this.bytes += chunk.length;
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let at = 0;
    for (;;) {
      if (data.length - at < 2) break;
      let length = data[at + 1] & 127;
      let head = 2;
      if (length === 126) {
        if (data.length - at < 4) break;
        length = data.readUInt16BE(at + 2);
        head = 4;
      } else if (length === 127) {
        if (data.length - at < 10) break;
        length = Number(data.readBigUInt64BE(at + 2));
        head = 10;
      }
      if (data.length - at < head + length) break;
      const opcode = data[at] & 15;
      const payload = data.subarray(at + head, at + head + length);
      if (opcode === 1) this.#onFrame((data[at] & COMPRESSED) === 0 ? payload : inflated(payload));
      at += head + length;
    }
    this.#rest = at === data.length ? Buffer.alloc(0) : data.subarray(at);
  }

  #onFrame(payload) {
    this.frames += 1;
    if (this.#onText !== undefined) this.#onText(payload.toString());
    if (this.latencies !== undefined) this.#noteLatency(payload);
    if (this.said !== undefined) this.said += agentText(JSON.parse(payload.toString()));
    if (payload.includes(END)) {
      this.endedAt = performance.now();
      this.#onEnd();
    }
  }

  #noteLatency(payload) {
    const match = /"text":"\d+ (\d+) /.exec(payload.toString("latin1"));
    if (match !== null) this.latencies.push(micros() - Number(match[1]));
  }
}

/** True when a text holds the updates 1 to `count` in order, each once. */
export function isComplete(text, count) {
  const numbers = [...text.matchAll(/(\d+) \d{16} /g)].map((match) => Number(match[1]));
  return numbers.length === count && numbers.every((number, index) => number === index + 1);
}
