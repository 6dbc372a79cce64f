/** All open client sockets: one wheel for their pings and deadlines, counts and bounds, closing by device (L4, contract §6). */

import type { Limits } from "../config/config.ts";
import { CLOSE, type CloseCode } from "../protocol/close-codes.ts";
import type { Scheduler } from "../store/scheduler.ts";
import type { ClientSocket } from "./client-socket.ts";
import { addTraffic, NO_TRAFFIC, type Traffic } from "./traffic.ts";
import { Turns } from "./turns.ts";

const TICK_MS = 2000;

export class Sockets {
  readonly turns: Turns = new Turns();
  readonly #sockets = new Map<string, ClientSocket>();
  readonly #limits: Limits;
  readonly #scheduler: Scheduler;
  #stopTicking: () => void;
  #pingedAt: number;
  #isDraining = false;
  /** Of sockets that are closed. */
  #past: Traffic = NO_TRAFFIC;

  constructor(limits: Limits, scheduler: Scheduler) {
    this.#limits = limits;
    this.#scheduler = scheduler;
    this.#pingedAt = scheduler.monotonic();
    this.#stopTicking = this.#nextTick();
  }

  get count(): number {
    return this.#sockets.size;
  }

  ofDevice(deviceId: string): ClientSocket[] {
    return [...this.#sockets.values()].filter((socket) => socket.connection.device === deviceId);
  }

  /** Undefined when another socket may open, else the status to refuse it with. */
  refusal(deviceId: string): 429 | 503 | undefined {
    if (this.#isDraining) return 503;
    if (this.#sockets.size >= this.#limits.connectionsMax) return 503;
    return this.ofDevice(deviceId).length >= this.#limits.connectionsPerDevice ? 429 : undefined;
  }

  add(socket: ClientSocket): void {
    this.#sockets.set(socket.connection.id, socket);
  }

  /** All of it since the start. */
  get traffic(): Traffic {
    return [...this.#sockets.values()].reduce((sum, socket) => addTraffic(sum, socket.traffic), this.#past);
  }

  delete(socket: ClientSocket): void {
    this.#past = addTraffic(this.#past, socket.traffic);
    this.#sockets.delete(socket.connection.id);
  }

  close(connectionId: string, code: CloseCode): void {
    this.#sockets.get(connectionId)?.close(code);
  }

  /** A device is revoked: its sockets end at once (contract §3). */
  closeDevice(deviceId: string): void {
    for (const socket of this.ofDevice(deviceId)) socket.close(CLOSE.revoked);
  }

  each(visit: (socket: ClientSocket) => void): void {
    for (const socket of this.#sockets.values()) visit(socket);
  }

  /** The hub stops: everyone is told to come back. */
  async drain(limitMs: number): Promise<void> {
    this.#stopTicking();
    this.#isDraining = true;
    for (const socket of this.#sockets.values()) socket.close(CLOSE.goingAway);
    const deadline = performance.now() + limitMs;
    while (this.#sockets.size > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    for (const socket of this.#sockets.values()) socket.terminate();
  }

  #nextTick(): () => void {
    return this.#scheduler.after(TICK_MS, () => {
      this.#stopTicking = this.#nextTick();
      this.#tick(this.#scheduler.monotonic());
    });
  }

  #tick(now: number): void {
    const isPingDue = now - this.#pingedAt >= this.#limits.pingMs;
    if (isPingDue) this.#pingedAt = now;
    for (const socket of this.#sockets.values()) socket.onTick(now, isPingDue);
  }
}
