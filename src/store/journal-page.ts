/** One page of a journal. */
import type { JournalItem, JournalPage } from "./ports.ts";

/** Collects items until the limit is passed; one more then says that there is more. */
export class PageBuilder {
  readonly #limitBytes: number;
  readonly #items: JournalItem[] = [];
  #bytes = 0;
  #hasMore = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** False when the page is full and the item was left out. */
  add(item: JournalItem, size: number): boolean {
    if (this.#items.length > 0 && this.#bytes >= this.#limitBytes) {
      this.#hasMore = true;
      return false;
    }
    this.#items.push(item);
    this.#bytes += size;
    return true;
  }

  done(isReversed = false): JournalPage {
    return { items: isReversed ? this.#items.reverse() : this.#items, hasMore: this.#hasMore };
  }
}
