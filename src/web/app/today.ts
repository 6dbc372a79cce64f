/** Which day it is at the hub: what it has dated is "14:02" on that day, and has its date on every other. */
import { type Clock, type HubClock, Observable } from "../../client/index.ts";

export class Today {
  /** A moment of the hub's present day; another one when the day has changed. */
  readonly moment: Observable<number>;
  readonly #hubClock: HubClock;
  readonly #clock: Clock;

  constructor(hubClock: HubClock, clock: Clock) {
    this.#hubClock = hubClock;
    this.#clock = clock;
    this.moment = new Observable(hubClock.now());
    hubClock.offset.subscribe(() => this.look());
    this.#wait();
  }

  /** A page that was asleep over midnight hears of it when it is seen again. */
  look(): void {
    const now = this.#hubClock.now();
    if (dayOf(now) !== dayOf(this.moment.value)) this.moment.set(now);
  }

  #wait(): void {
    const now = this.#hubClock.now();
    const midnight = new Date(now).setHours(24, 0, 0, 0);
    this.#clock.after(midnight - now, () => {
      this.look();
      this.#wait();
    });
  }
}

const dayOf = (at: number): string => new Date(at).toDateString();
