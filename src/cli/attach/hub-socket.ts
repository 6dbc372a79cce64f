/** One WebSocket to a hub, its silence noticed: a half-open one looks like a calm one until somebody counts (L4). */
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { Clock } from "../../client/ports.ts";
import { LIMITS, PIPE_LINE_BYTES } from "../../protocol/limits.ts";

export interface HubTarget {
  readonly url: string;
  /** WebSocket subprotocols: the credential travels here, never in the address. */
  readonly protocols: readonly string[];
}

export interface SocketEnd {
  /** A WebSocket close code; 1006 when the peer just went away. */
  readonly code: number;
  /** HTTP status of a refused upgrade. */
  readonly status?: number;
  /** For people. */
  readonly words: string;
}

export interface HubSocketEvents {
  onOpen(): void;
  onText(text: string): void;
  /** Exactly once, also for a socket that never opened. */
  onEnd(end: SocketEnd): void;
}

/** So many of the hub's pings missed is death. */
const PINGS_MISSED = 2.5;
const LOOK_MS = 15_000;
const HANDSHAKE_MS = 10_000;
const CLOSE_MS = 2000;
const DETAIL_MAX = 8192;

export class HubSocket {
  readonly #ws: WebSocket;
  readonly #events: HubSocketEvents;
  readonly #clock: Clock;
  #heardAt: number;
  #silentMs = LIMITS.pingMs * PINGS_MISSED;
  #isEnded = false;
  #cancelTimer: () => void = () => undefined;

  constructor(target: HubTarget, events: HubSocketEvents, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
    this.#heardAt = clock.now();
    this.#ws = new WebSocket(target.url, [...target.protocols], {
      handshakeTimeout: HANDSHAKE_MS,
      // No less than any hub may be set to share: it is the longest line its bridges take of their agents.
      maxPayload: PIPE_LINE_BYTES,
      perMessageDeflate: false,
    });
    this.#ws.on("open", () => this.#onOpen());
    this.#ws.on("message", (data, isBinary) => {
      this.#heardAt = clock.now();
      if (!isBinary && !this.#isEnded) events.onText(String(data));
    });
    this.#ws.on("ping", () => {
      this.#heardAt = clock.now();
    });
    this.#ws.on("unexpected-response", (request, response: IncomingMessage) => {
      request.on("error", () => undefined);
      void detailOf(response).then((words) => {
        this.#end({ code: 1006, status: response.statusCode ?? 0, words });
        this.#ws.terminate();
      });
    });
    this.#ws.on("close", (code, reason) => this.#end({ code, words: reason.toString("utf8") }));
    this.#ws.on("error", (error) => this.#onError(error));
  }

  send(text: string): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.send(text);
  }

  pause(): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.pause();
  }

  resume(): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.resume();
  }

  /** Nothing more is told of it; what was sent goes out. */
  close(): void {
    this.#isEnded = true;
    this.#cancelTimer();
    this.#ws.close(1000);
    // A peer that is gone never answers the close.
    const timer = setTimeout(() => this.#ws.terminate(), CLOSE_MS);
    timer.unref();
    this.#ws.once("close", () => clearTimeout(timer));
  }

  #onOpen(): void {
    this.#heardAt = this.#clock.now();
    this.#look();
    if (!this.#isEnded) this.#events.onOpen();
  }

  #look(): void {
    this.#cancelTimer = this.#clock.after(LOOK_MS, () => {
      // A paused socket hears nothing by our own will.
      if (this.#ws.isPaused) this.#heardAt = this.#clock.now();
      if (this.#clock.now() - this.#heardAt <= this.#silentMs) return this.#look();
      this.#end({ code: 1006, words: "the hub went silent" });
      return this.#ws.terminate();
    });
  }

  /** How often this hub pings, as it says itself. */
  expectPings(everyMs: number): void {
    this.#silentMs = everyMs * PINGS_MISSED;
  }

  #onError(error: Error): void {
    const code = (error as NodeJS.ErrnoException).code;
    this.#end({ code: 1006, words: code === undefined ? error.message : `${code}` });
  }

  #end(end: SocketEnd): void {
    this.#cancelTimer();
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#events.onEnd(end);
  }
}

/** What the hub says about a refusal, in its own words where it has some. */
async function detailOf(response: IncomingMessage): Promise<string> {
  let text = "";
  try {
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length > DETAIL_MAX) break;
    }
    const problem: unknown = JSON.parse(text);
    if (typeof problem === "object" && problem !== null && "detail" in problem) return String(problem.detail);
  } catch {
    // A proxy's page, or half of one: the status says enough.
  }
  return `the hub answered ${response.statusCode ?? "nothing"}`;
}
