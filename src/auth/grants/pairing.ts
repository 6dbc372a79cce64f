/**
 * Pairings: one-use permissions to become a device, made by a device for another, within its own rights. Each has a secret of
 * 256 bits for the link (in the URL's fragment, which no server sees) and a text code for typing. Kept in memory only: they
 * live five minutes by default. Ten wrong codes, from wherever, end every pairing that was open meanwhile: a text code is short.
 */
import type { Scope } from "../../protocol/scopes.ts";
import { type Deadline, deadlineIn, isOver } from "../deadline.ts";
import { type AuthFailure, authFailure } from "../failures.ts";
import type { Clock, RandomBytes } from "../ports.ts";
import { hashSecret, isSameHash, randomSecret } from "../secrets.ts";
import { makeTextCode, normalizeCode } from "./pairing-code.ts";

/** Less is over before it is typed. */
const PAIRING_MS_MIN = 10_000;
const OPEN_MAX = 32;

export interface PairingRequest {
  readonly scopes: readonly Scope[];
  /** What the new device is called unless it says itself. */
  readonly name?: string;
  readonly ttlMs?: number;
}

/** The device that makes the pairing. */
export interface PairingIssuer {
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

export interface MadePairing {
  /** For people: `XXXX-XXXX`. */
  readonly code: string;
  /** For the link's fragment. */
  readonly linkSecret: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: number;
}

/** What whoever brings the code becomes. */
export interface PairingGrant {
  readonly scopes: readonly Scope[];
  readonly name: string | undefined;
  readonly createdBy: string;
}

interface OpenPairing extends PairingGrant {
  readonly hashes: readonly string[];
  readonly end: Deadline;
  wrongTries: number;
}

/** Contract §6. */
export interface PairingLimits {
  /** How long a code lives at most, and when nothing else is said. */
  readonly pairingMs: number;
  readonly pairingWrongTriesMax: number;
}

export interface PairingsOptions {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: PairingLimits;
  /** Pairings that ended because of wrong codes. */
  onBurned(count: number): void;
}

function lifeMs(wanted: number | undefined, max: number): number {
  if (wanted === undefined || !Number.isFinite(wanted)) return max;
  return Math.min(Math.max(wanted, PAIRING_MS_MIN), max);
}

export class Pairings {
  readonly #options: PairingsOptions;
  #open: OpenPairing[] = [];

  constructor(options: PairingsOptions) {
    this.#options = options;
  }

  create(request: PairingRequest, by: PairingIssuer): MadePairing | AuthFailure {
    this.#forgetEnded();
    const scopes = [...new Set(request.scopes)];
    if (scopes.length === 0 || scopes.some((scope) => !by.scopes.has(scope)))
      return authFailure("scope-exceeds-issuer");
    if (this.#open.length >= OPEN_MAX) return authFailure("too-many-pairings");
    const { clock, random, limits } = this.#options;
    const end = deadlineIn(clock, lifeMs(request.ttlMs, limits.pairingMs));
    const made = { code: makeTextCode(random), linkSecret: randomSecret(random), expiresAt: end.at };
    this.#open.push({
      hashes: [hashSecret(normalizeCode(made.code)), hashSecret(made.linkSecret)],
      scopes,
      name: request.name,
      createdBy: by.name,
      end,
      wrongTries: 0,
    });
    return { ...made, scopes };
  }

  /** Uses a code up. Every code that fits none counts against all that are open. */
  take(code: string): PairingGrant | AuthFailure {
    this.#forgetEnded();
    const shown = hashSecret(normalizeCode(code));
    // All are compared whatever fits, so that time tells nothing.
    const fitting = this.#open.filter((pairing) => pairing.hashes.filter((hash) => isSameHash(hash, shown)).length > 0);
    const [found] = fitting;
    if (found === undefined) {
      this.#onWrongTry();
      return authFailure("pairing-refused");
    }
    this.#open = this.#open.filter((pairing) => pairing !== found);
    const { scopes, name, createdBy } = found;
    return { scopes, name, createdBy };
  }

  get openCount(): number {
    this.#forgetEnded();
    return this.#open.length;
  }

  #onWrongTry(): void {
    for (const pairing of this.#open) pairing.wrongTries++;
    const left = this.#open.filter((pairing) => pairing.wrongTries < this.#options.limits.pairingWrongTriesMax);
    const burned = this.#open.length - left.length;
    this.#open = left;
    if (burned > 0) this.#options.onBurned(burned);
  }

  #forgetEnded(): void {
    this.#open = this.#open.filter(({ end }) => !isOver(this.#options.clock, end));
  }
}
