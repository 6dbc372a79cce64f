/** One direction of a channel: messages that were sent and have not arrived. What is undelivered when it is cut is lost. */
export class Wire {
  readonly name: string;
  readonly #receive: (text: string) => void;
  readonly #onEmpty: (() => void) | undefined;
  readonly #queue: string[] = [];
  #bytes = 0;
  isStalled = false;
  isCut = false;

  constructor(name: string, receive: (text: string) => void, onEmpty?: () => void) {
    this.name = name;
    this.#receive = receive;
    this.#onEmpty = onEmpty;
  }

  get canDeliver(): boolean {
    return !this.isStalled && !this.isCut && this.#queue.length > 0;
  }

  /** Sent and not arrived, in characters. A stalled reader's socket is what fills up. */
  get bufferedBytes(): number {
    return this.isStalled ? this.#bytes : 0;
  }

  get waiting(): readonly string[] {
    return this.#queue;
  }

  push(text: string): void {
    if (this.isCut) return;
    this.#queue.push(text);
    this.#bytes += text.length;
  }

  deliver(): void {
    const text = this.#queue.shift();
    if (text === undefined) return;
    this.#bytes -= text.length;
    this.#receive(text);
    if (this.#queue.length === 0) this.#onEmpty?.();
  }

  cut(): void {
    this.isCut = true;
    this.#queue.length = 0;
    this.#bytes = 0;
  }
}
