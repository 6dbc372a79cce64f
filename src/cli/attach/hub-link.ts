/**
 * The lasting link of `attach`: dials, dials again after a loss, and knows from the close table when a person has to act.
 *
 * H1 At most one socket lives; what an earlier one still tells is not heard.
 * H2 The first dial fails for good when nobody is there within moments: an editor that starts us wants to know, not to wait.
 */
import { BACKOFF_MAX_MS, backoffMs } from "../../client/backoff.ts";
import type { Clock } from "../../client/ports.ts";
import { CLOSE, retryPolicy } from "../../protocol/close-codes.ts";
import { type Frame, parseFrame } from "../../protocol/envelope.ts";
import { HubSocket, type HubTarget, type SocketEnd } from "./hub-socket.ts";

/** `unreachable`: nobody answered. `refused`: the hub said no. `ended`: what was attached is gone. */
export type StopKind = "unreachable" | "refused" | "ended";

export interface LinkStop {
  readonly kind: StopKind;
  readonly words: string;
}

export interface HubLinkEvents {
  /** A socket is open; nothing was said on it yet. */
  onUp(): void;
  onFrame(frame: Frame): void;
  /** It is gone; another follows. */
  onDown(): void;
  /** Nothing follows any more. */
  onStopped(stop: LinkStop): void;
}

/** How long an instance, or a hub that is busy starting, may stay away after it was there. */
const AWAY_MS = 20_000;
/** A hub that is just being restarted is not "nobody". */
const FIRST_MS = 3000;

export class HubLink {
  readonly #target: HubTarget;
  readonly #clock: Clock;
  readonly #events: HubLinkEvents;
  #socket: HubSocket | undefined;
  #isUp = false;
  #wasUp = false;
  #isStopped = false;
  #attempt = 0;
  #startedAt = 0;
  #cancelRetry: () => void = () => undefined;

  constructor(target: HubTarget, clock: Clock, events: HubLinkEvents) {
    this.#target = target;
    this.#clock = clock;
    this.#events = events;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  start(): void {
    this.#startedAt = this.#clock.now();
    this.#dial();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelRetry();
    this.#socket?.close();
    this.#socket = undefined;
    this.#isUp = false;
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  expectPings(everyMs: number): void {
    this.#socket?.expectPings(everyMs);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  #dial(): void {
    const socket = new HubSocket(
      this.#target,
      {
        onOpen: () => {
          if (this.#socket !== socket) return;
          this.#attempt = 0;
          this.#wasUp = true;
          this.#isUp = true;
          this.#events.onUp();
        },
        onText: (text) => {
          const parsed = this.#socket === socket ? parseFrame(text) : undefined;
          if (parsed?.ok === true) this.#events.onFrame(parsed.frame);
        },
        onEnd: (end) => {
          if (this.#socket === socket) this.#onEnd(end);
        },
      },
      this.#clock,
    );
    this.#socket = socket;
  }

  #onEnd(end: SocketEnd): void {
    this.#socket = undefined;
    const wasUp = this.#isUp;
    this.#isUp = false;
    if (wasUp) {
      this.#startedAt = this.#clock.now();
      this.#events.onDown();
    }
    if (this.#isStopped) return;
    const stop = this.#verdict(end, this.#clock.now() - this.#startedAt);
    if (stop !== undefined) {
      this.stop();
      this.#events.onStopped(stop);
      return;
    }
    const isSlow = end.status === 429 || retryPolicy(end.code) === "wait";
    const wait = isSlow ? BACKOFF_MAX_MS : backoffMs(this.#attempt, this.#clock.random());
    this.#attempt += 1;
    this.#cancelRetry = this.#clock.after(wait, () => this.#dial());
  }

  /** Undefined: dial again. `awayMs`: since the last socket ended, or since the start. */
  #verdict(end: SocketEnd, awayMs: number): LinkStop | undefined {
    const { status, code, words } = end;
    if (status === 401 || status === 403 || status === 400) return { kind: "refused", words };
    if (status === 404) return this.#wasUp && awayMs < AWAY_MS ? undefined : { kind: "ended", words };
    if (status !== undefined) {
      const isPatient = this.#wasUp || awayMs < AWAY_MS;
      return isPatient ? undefined : { kind: "unreachable", words };
    }
    const known = Object.values(CLOSE).find((entry) => entry.code === code);
    if (retryPolicy(code) === "stop") {
      const kind: StopKind = code === CLOSE.revoked.code ? "refused" : "ended";
      return { kind, words: known?.meaning ?? words };
    }
    if (this.#wasUp || awayMs < FIRST_MS) return undefined;
    return { kind: "unreachable", words: words === "" ? "the hub does not answer" : words };
  }
}
