/** The two shapes of subscription this client offers: a value that changes, and events that pass. */

export type Unsubscribe = () => void;

/** A value with listeners. Fits React's `useSyncExternalStore`: the reference changes exactly when the value does. */
export class Observable<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(initial: T) {
    this.#value = initial;
  }

  get value(): T {
    return this.#value;
  }

  set(next: T): void {
    if (Object.is(next, this.#value)) return;
    this.#value = next;
    // A copy: a listener may leave while it is told.
    for (const listener of [...this.#listeners]) listener();
  }

  subscribe(listener: () => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export class Emitter<T> {
  readonly #listeners = new Set<(event: T) => void>();

  emit(event: T): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  subscribe(listener: (event: T) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
