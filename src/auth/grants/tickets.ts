/** Tickets: what a browser puts into the URL of a socket or an event stream instead of a credential. One use, 30 seconds. */
import { type Deadline, deadlineIn, isOver } from "../deadline.ts";
import { type AuthFailure, authFailure } from "../failures.ts";
import type { Clock, RandomBytes } from "../ports.ts";
import type { Principal } from "../principal.ts";
import { hashSecret, randomSecret } from "../secrets.ts";

const TICKET_MS = 30_000;
/** More than any client opens in half a minute; the oldest goes first. */
const OPEN_PER_DEVICE_MAX = 64;
const OPEN_MAX = 4_096;

export interface Ticket {
  readonly ticket: string;
  /** Seconds. */
  readonly expiresIn: number;
}

interface OpenTicket {
  readonly principal: Principal;
  readonly end: Deadline;
}

export class Tickets {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  /** By the ticket's hash, in the order they were made. */
  readonly #open = new Map<string, OpenTicket>();

  constructor(clock: Clock, random: RandomBytes) {
    this.#clock = clock;
    this.#random = random;
  }

  issue(principal: Principal): Ticket {
    this.#makeRoom(principal);
    const ticket = randomSecret(this.#random);
    this.#open.set(hashSecret(ticket), { principal, end: deadlineIn(this.#clock, TICKET_MS) });
    return { ticket, expiresIn: TICKET_MS / 1_000 };
  }

  /** Who it was made for; the caller looks at that device's record again. */
  take(ticket: string): Principal | AuthFailure {
    const hash = hashSecret(ticket);
    const found = this.#open.get(hash);
    this.#open.delete(hash);
    if (found === undefined) return authFailure("invalid-credential");
    return !isOver(this.#clock, found.end) ? found.principal : authFailure("expired-credential");
  }

  get openCount(): number {
    return this.#open.size;
  }

  #makeRoom({ deviceId }: Principal): void {
    for (const [hash, { end }] of this.#open) if (isOver(this.#clock, end)) this.#open.delete(hash);
    const own = [...this.#open].filter(([, ticket]) => ticket.principal.deviceId === deviceId);
    const surplus = own.slice(0, Math.max(0, own.length - OPEN_PER_DEVICE_MAX + 1));
    for (const [hash] of surplus) this.#open.delete(hash);
    const [oldest] = this.#open.keys();
    if (this.#open.size >= OPEN_MAX && oldest !== undefined) this.#open.delete(oldest);
  }
}
