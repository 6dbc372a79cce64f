/** The open event streams (contract §3 `GET /api/events`): bounded like sockets, and ended with the credential they were opened by. */
import type { ServerResponse } from "node:http";
import type { Limits } from "../config/config.ts";
import { CLOSE, type CloseCode } from "../protocol/close-codes.ts";
import type { Principal } from "./principal.ts";

interface OpenStream {
  readonly deviceId: string;
  readonly response: ServerResponse;
}

/** Streams count apart from sockets: an app has one of each. */
type StreamLimits = Pick<Limits, "connectionsPerDevice" | "connectionsMax">;

/** Timers hold no longer time; a credential that lives longer is looked at again by its device. */
const TIMER_MS_MAX = 2_147_483_647;

export class EventStreams {
  readonly #open = new Set<OpenStream>();
  readonly #limits: StreamLimits;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Undefined when another stream may open, else the status to refuse it with. */
  refusal(deviceId: string): 429 | 503 | undefined {
    if (this.#open.size >= this.#limits.connectionsMax) return 503;
    return this.#of(deviceId).length >= this.#limits.connectionsPerDevice ? 429 : undefined;
  }

  /** Takes a stream whose head is written. It ends with its credential, its device, or its reader. */
  add({ deviceId, expiresAt }: Principal, response: ServerResponse): void {
    const stream = { deviceId, response };
    this.#open.add(stream);
    const left = expiresAt === undefined ? undefined : Math.min(TIMER_MS_MAX, Math.max(0, expiresAt - Date.now()));
    const timer = left === undefined ? undefined : setTimeout(() => end(stream, CLOSE.revoked), left);
    timer?.unref();
    response.on("close", () => {
      clearTimeout(timer);
      this.#open.delete(stream);
    });
  }

  /** The device is revoked: its streams say so and end. */
  closeDevice(deviceId: string): void {
    for (const stream of this.#of(deviceId)) end(stream, CLOSE.revoked);
  }

  #of(deviceId: string): OpenStream[] {
    return [...this.#open].filter((stream) => stream.deviceId === deviceId);
  }
}

/** A stream has no close code, so its last event carries it. A reader that does not read is cut off. */
function end({ response }: OpenStream, { code, name }: CloseCode): void {
  response.end(`event: close\ndata: ${JSON.stringify({ code, reason: name })}\n\n`);
  const timer = setTimeout(() => response.destroy(), 500);
  timer.unref();
  response.once("close", () => clearTimeout(timer));
}
