/**
 * The first row that begins on the screen, and where it stood. The list keeps what is read in its place by itself, but not while it
 * counts from the end, as it does from when rows were put in front until it has rested for a moment: a session that is written
 * meanwhile would carry the reader along.
 */
import type { VirtualizerHandle } from "virtua";

interface KeyedRow {
  readonly key: string;
}

export class ReadingPlace {
  #kept: { readonly key: string; readonly top: number } | undefined;

  /** The reader is here now. */
  note(list: VirtualizerHandle, rows: readonly KeyedRow[], scrollTop: number): void {
    const first = list.findItemIndex(scrollTop);
    // A row that fills the screen is read from where it begins.
    const isNextSeen = first + 1 < rows.length && list.getItemOffset(first + 1) < scrollTop + list.viewportSize;
    const at = isNextSeen ? first + 1 : first;
    const key = rows[at]?.key;
    this.#kept = key === undefined ? undefined : { key, top: list.getItemOffset(at) - scrollTop };
  }

  /** How far the row is from where it stood; undefined when it is not known. */
  drift(list: VirtualizerHandle, rows: readonly KeyedRow[], scrollTop: number): number | undefined {
    const kept = this.#kept;
    const at = kept === undefined ? -1 : rows.findLastIndex(({ key }) => key === kept.key);
    return kept === undefined || at < 0 ? undefined : list.getItemOffset(at) - scrollTop - kept.top;
  }
}
