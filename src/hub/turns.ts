/**
 * Whose message is next, among all clients. One that sends faster than its requests can be served (each may read a whole session)
 * waits for itself: after a little work the loop goes round, and everybody who waits has one message served before anyone has two.
 */

/** What may be done in one round of the loop; one message more than fits is finished. */
const BUDGET_MS = 10;

/** Somebody who waits for a turn. */
interface Waiting {
  serveOne(): void;
}

export class Turns {
  /** Round robin: whose turn was goes to the end. */
  readonly #waiting = new Set<Waiting>();
  readonly #now: () => number;
  #usedMs = 0;
  #isRoundSet = false;

  /** `now`: milliseconds that only grow. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** True while this round has room for more. */
  get hasRoom(): boolean {
    return this.#usedMs < BUDGET_MS;
  }

  wait(inbox: Waiting): void {
    this.#waiting.add(inbox);
    this.#setRound();
  }

  leave(inbox: Waiting): void {
    this.#waiting.delete(inbox);
  }

  /** Does a step on this round's account. */
  spend(step: () => void): void {
    this.#setRound();
    const startedAt = this.#now();
    try {
      step();
    } finally {
      this.#usedMs += this.#now() - startedAt;
    }
  }

  #setRound(): void {
    if (this.#isRoundSet) return;
    this.#isRoundSet = true;
    setImmediate(() => {
      this.#isRoundSet = false;
      this.#usedMs = 0;
      this.#serve();
    });
  }

  #serve(): void {
    for (const inbox of this.#waiting) {
      if (!this.hasRoom) break;
      this.#waiting.delete(inbox);
      inbox.serveOne();
    }
    if (this.#waiting.size > 0) this.#setRound();
  }
}

export interface InboxPorts<Message> {
  handle(message: Message): void;
  /** The peer is not read while messages of its wait. */
  pause(): void;
  resume(): void;
}

/**
 * The messages of one client that wait for their turn, in their order. Bounded by what was read of its socket when it was paused:
 * one read, and one frame of the size it may send.
 */
export class Inbox<Message> implements Waiting {
  readonly #turns: Turns;
  readonly #ports: InboxPorts<Message>;
  #messages: Message[] = [];
  /** Those before it are served: taking them off the front one by one would move all that follow. */
  #served = 0;
  #isClosed = false;

  constructor(turns: Turns, ports: InboxPorts<Message>) {
    this.#turns = turns;
    this.#ports = ports;
  }

  /** Served at once where there is room and nothing before it. */
  take(message: Message): void {
    if (this.#isClosed) return undefined;
    if (this.#messages.length === 0 && this.#turns.hasRoom) return this.#turns.spend(() => this.#ports.handle(message));
    this.#messages.push(message);
    if (this.#messages.length > 1) return undefined;
    this.#ports.pause();
    return this.#turns.wait(this);
  }

  serveOne(): void {
    const message = this.#messages[this.#served];
    this.#served += 1;
    if (message !== undefined) this.#turns.spend(() => this.#ports.handle(message));
    // What was just served may have ended it.
    if (this.#isClosed) return undefined;
    if (this.#served < this.#messages.length) return this.#turns.wait(this);
    this.#messages = [];
    this.#served = 0;
    return this.#ports.resume();
  }

  /** Nothing more is served. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#turns.leave(this);
    if (this.#messages.length > 0) this.#ports.resume();
    this.#messages = [];
  }
}
