/**
 * The branches of the directories sessions run in, for lists. Read again when something happens there or somebody asks, at most once
 * a second each; who shows them is told when one has changed.
 */
import type { Scheduler } from "../store/scheduler.ts";
import { readBranch } from "./git-branch.ts";

const EVERY_MS = 1000;
/** Directories remembered; the one asked for longest ago goes first. */
const KEPT_MAX = 512;

interface Place {
  branch: string | undefined;
  /** A look is on its way, or one that follows it. */
  isLooking: boolean;
  isAskedAgain: boolean;
}

export class Branches {
  readonly #scheduler: Scheduler;
  readonly #onChanged: (directory: string) => void;
  readonly #places = new Map<string, Place>();

  constructor(scheduler: Scheduler, onChanged: (directory: string) => void) {
    this.#scheduler = scheduler;
    this.#onChanged = onChanged;
  }

  /** As last read; undefined until it was, and where there is none. Has it read again. */
  of(directory: string): string | undefined {
    this.look(directory);
    return this.#places.get(directory)?.branch;
  }

  /** Something has happened there: it may be another one now. */
  look(directory: string): void {
    const known = this.#places.get(directory);
    const place = known ?? { branch: undefined, isLooking: false, isAskedAgain: false };
    this.#places.delete(directory);
    this.#places.set(directory, place);
    if (this.#places.size > KEPT_MAX) this.#places.delete(this.#places.keys().next().value ?? "");
    if (place.isLooking) place.isAskedAgain = true;
    else void this.#read(directory, place);
  }

  async #read(directory: string, place: Place): Promise<void> {
    place.isLooking = true;
    place.isAskedAgain = false;
    const branch = await readBranch(directory);
    const isNew = branch !== place.branch;
    place.branch = branch;
    if (isNew) this.#onChanged(directory);
    this.#scheduler.after(EVERY_MS, () => {
      place.isLooking = false;
      if (place.isAskedAgain) void this.#read(directory, place);
    });
  }
}
