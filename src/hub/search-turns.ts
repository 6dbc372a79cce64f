/**
 * Searches in turns, on one account with the messages of clients (`turns.ts`): each may read the index for 50 ms, and fifty at once
 * would hold up everybody for seconds. Each device has one served before any has two. What waits is bounded, with a named fate.
 */
import { Problem } from "./http/problem.ts";
import { Inbox, type Turns } from "./turns.ts";

export interface SearchBounds {
  readonly perDevice: number;
  readonly all: number;
}

const BOUNDS: SearchBounds = { perDevice: 64, all: 256 };

/** An app asks again when it is told when. */
const RETRY_SECONDS = 2;

interface Line {
  readonly inbox: Inbox<() => void>;
  waiting: number;
}

export class SearchTurns {
  readonly #turns: Turns;
  readonly #bounds: SearchBounds;
  readonly #lines = new Map<string, Line>();
  #waiting = 0;

  constructor(turns: Turns, bounds: SearchBounds = BOUNDS) {
    this.#turns = turns;
    this.#bounds = bounds;
  }

  /** Resolves to what `search` gives once it is this device's turn; undefined when nobody wants it any more. Rejects with a `Problem`. */
  run<T>(device: string, isWanted: () => boolean, search: () => T): Promise<T | undefined> {
    const line = this.#lines.get(device) ?? this.#newLine();
    if (line.waiting >= this.#bounds.perDevice) throw busy(429, "This device has too many searches waiting");
    if (this.#waiting >= this.#bounds.all) throw busy(503, "Too many searches wait");
    this.#lines.set(device, line);
    this.#count(line, 1);
    return new Promise((resolve, reject) => {
      line.inbox.take(() => {
        this.#count(line, -1);
        if (line.waiting === 0) this.#lines.delete(device);
        try {
          resolve(isWanted() ? search() : undefined);
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #newLine(): Line {
    const inbox = new Inbox<() => void>(this.#turns, {
      handle: (search) => search(),
      pause: () => undefined,
      resume: () => undefined,
    });
    return { inbox, waiting: 0 };
  }

  #count(line: Line, by: number): void {
    line.waiting += by;
    this.#waiting += by;
  }
}

const busy = (status: 429 | 503, detail: string): Problem =>
  new Problem(status, detail, { code: "busy", retryAfterSeconds: RETRY_SECONDS });
