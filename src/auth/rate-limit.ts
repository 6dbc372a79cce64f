/**
 * Counts failed tries per address: 10 in 15 minutes by default (contract §6). Loopback counts like any other address: pages in a local
 * browser guess from there. Memory is bounded: the address that failed longest ago is forgotten first.
 */
import { isIPv6 } from "node:net";
import { LIMITS } from "../protocol/limits.ts";
import type { Clock } from "./ports.ts";

export interface RateLimitOptions {
  readonly clock: Clock;
  readonly failuresMax?: number;
  readonly windowMs?: number;
  readonly addressesMax?: number;
}

interface Failures {
  count: number;
  readonly since: number;
}

export class RateLimit {
  readonly #clock: Clock;
  readonly #failuresMax: number;
  readonly #windowMs: number;
  readonly #addressesMax: number;
  readonly #failures = new Map<string, Failures>();

  constructor(options: RateLimitOptions) {
    this.#clock = options.clock;
    this.#failuresMax = options.failuresMax ?? LIMITS.failuresPerAddress;
    this.#windowMs = options.windowMs ?? LIMITS.failuresMs;
    this.#addressesMax = options.addressesMax ?? 10_000;
  }

  /** Seconds until the address may try again; 0 when it may now. */
  retryAfterSeconds(address: string): number {
    const failures = this.#current(networkOf(address));
    if (failures === undefined || failures.count < this.#failuresMax) return 0;
    return Math.max(1, Math.ceil((failures.since + this.#windowMs - this.#clock.monotonic()) / 1_000));
  }

  onFailure(address: string): void {
    const network = networkOf(address);
    const failures = this.#current(network) ?? { count: 0, since: this.#clock.monotonic() };
    failures.count++;
    // Set anew, so that the map's order is the order of the last failure.
    this.#failures.delete(network);
    this.#failures.set(network, failures);
    if (this.#failures.size > this.#addressesMax) this.#forgetOldest();
  }

  get addressCount(): number {
    return this.#failures.size;
  }

  #current(network: string): Failures | undefined {
    const failures = this.#failures.get(network);
    if (failures === undefined || this.#clock.monotonic() - failures.since < this.#windowMs) return failures;
    this.#failures.delete(network);
    return undefined;
  }

  #forgetOldest(): void {
    const [oldest] = this.#failures.keys();
    if (oldest !== undefined) this.#failures.delete(oldest);
  }
}

/** One person has 2^64 addresses of IPv6: the network counts. An IPv4 address in IPv6 form is that IPv4 address. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const bare = address.split("%")[0] ?? address;
  if (!isIPv6(bare)) return address;
  const [head = "", tail = ""] = bare.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === "" ? [] : tail.split(":");
  const zeros = bare.includes("::")
    ? Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => "0")
    : [];
  const groups = [...front, ...zeros, ...back].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, "").toLowerCase());
  return `${groups.join(":")}::/64`;
}
