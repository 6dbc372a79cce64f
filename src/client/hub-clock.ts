/**
 * The hub's clock, as far as its answers tell: what is dated by the hub has to be aged by the hub. Every answer says between which
 * bounds the difference lies (it was written after it was asked for and before it came); together they leave a second or less.
 */
import type { Fetch } from "./api/http.ts";
import { Observable } from "./emitter.ts";
import type { Clock } from "./ports.ts";

/** A Date header is given to the second, and a busy hub may write the one before. */
const SECOND_MS = 1000;

interface Bounds {
  readonly least: number;
  readonly most: number;
}

export class HubClock {
  /** What to add to this device's time; 0 while the two may well agree. */
  readonly offset: Observable<number> = new Observable(0);
  readonly #own: Clock;
  #known: Bounds | undefined;

  constructor(own: Clock) {
    this.#own = own;
  }

  now(): number {
    return this.at(this.#own.now());
  }

  /** The hub's time when this device's was `own`. */
  at(own: number): number {
    return own + this.offset.value;
  }

  /** The same fetch, listened to. */
  heardIn(fetch: Fetch): Fetch {
    return async (url, init) => {
      const askedAt = this.#own.now();
      const response = await fetch(url, init);
      this.#hear(Date.parse(response.headers.get("date") ?? ""), askedAt, this.#own.now());
      return response;
    };
  }

  #hear(date: number, askedAt: number, answeredAt: number): void {
    // A clock that was set back meanwhile measures nothing.
    if (Number.isNaN(date) || answeredAt < askedAt) return;
    const told = { least: date - SECOND_MS - answeredAt, most: date + 2 * SECOND_MS - askedAt };
    this.#known = agreed(this.#known, told) ?? told;
    const { least, most } = this.#known;
    this.offset.set(least <= 0 && most >= 0 ? 0 : Math.round((least + most) / 2));
  }
}

/** What both say; undefined when they cannot both be right, for one of the clocks was set. */
function agreed(a: Bounds | undefined, b: Bounds): Bounds | undefined {
  if (a === undefined) return undefined;
  const least = Math.max(a.least, b.least);
  const most = Math.min(a.most, b.most);
  return least <= most ? { least, most } : undefined;
}
