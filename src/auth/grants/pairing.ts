/**
 * Pairings: one-use permissions to become a device, made by a device for another, within its own rights. Each has a secret of
 * 256 bits for the link (in the URL's fragment, which no server sees) and a text code for typing. Kept in memory only: they
 * live five minutes. Ten wrong codes, from wherever, end every pairing that was open meanwhile: a text code is short.
 */
import type { Scope } from "../../protocol/scopes.ts";
import { type Deadline, deadlineIn, isOver } from "../deadline.ts";
import { type AuthFailure, authFailure } from "../failures.ts";
import type { Clock, RandomBytes } from "../ports.ts";
import { hashSecret, isSameHash, randomSecret } from "../secrets.ts";
import { makeTextCode, normalizeCode } from "./pairing-code.ts";

export const PAIRING_MS_MAX = 300_000;
const PAIRING_MS_MIN = 10_000;
const WRONG_TRIES_MAX = 10;
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

export interface PairingsOptions {
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Pairings that ended because of wrong codes. */
  onBurned(count: number): void;
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
    const { clock, random } = this.#options;
    const wanted = request.ttlMs ?? PAIRING_MS_MAX;
    const ttlMs = Number.isFinite(wanted) ? Math.min(Math.max(wanted, PAIRING_MS_MIN), PAIRING_MS_MAX) : PAIRING_MS_MAX;
    const end = deadlineIn(clock, ttlMs);
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
    const left = this.#open.filter((pairing) => pairing.wrongTries < WRONG_TRIES_MAX);
    const burned = this.#open.length - left.length;
    this.#open = left;
    if (burned > 0) this.#options.onBurned(burned);
  }

  #forgetEnded(): void {
    this.#open = this.#open.filter(({ end }) => !isOver(this.#options.clock, end));
  }
}
