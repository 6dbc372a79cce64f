/** What a reader has touched, and where it then stood on the screen. */

/** What is touched: with a finger, or with a key. */
const TOUCHED = "button, summary, a, label, input";

/** The line of a card: it may be stuck at the edge, and tells its place by the card. */
const LINE = ".tool-line";

interface Held {
  readonly element: Element;
  readonly row: Element;
  top: number;
  height: number;
}

export class HeldPlace {
  #held: Held | undefined;

  /** Before what is touched does anything. */
  take(target: EventTarget | null): void {
    this.#held = undefined;
    if (!(target instanceof Element)) return;
    const touched = target.closest(TOUCHED) ?? target;
    const element = (touched.matches(LINE) && touched.parentElement) || touched;
    const row = element.closest("[data-row]");
    if (row !== null) this.#held = { element, row, top: topOf(element), height: heightOf(row) };
  }

  /** After that: what has changed no size holds nothing. The browser's own folds open a moment later. */
  confirm(): void {
    const held = this.#held;
    if (held === undefined || held.element.matches("summary")) return;
    if (heightOf(held.row) === held.height) this.#held = undefined;
  }

  release(): void {
    this.#held = undefined;
  }

  /** True when its row has another size than when this was asked last. */
  hasGrown(): boolean {
    const held = this.#held;
    if (held === undefined) return false;
    if (!held.element.isConnected) this.#held = undefined;
    const height = heightOf(held.row);
    const hasGrown = this.#held !== undefined && height !== held.height;
    held.height = height;
    return hasGrown;
  }

  /** How far it is from where it stood; undefined when nothing is held. */
  drift(): number | undefined {
    const held = this.#held;
    return held?.element.isConnected === true ? topOf(held.element) - held.top : undefined;
  }

  /** It may stand where it stands now: the reader has moved it there. */
  settle(): void {
    const held = this.#held;
    if (held !== undefined) held.top = topOf(held.element);
  }
}

/** How far the line that was touched is below the head of its card: it stays in sight inside of it. */
export function stuckPx(target: EventTarget | null): number {
  const line = target instanceof Element ? target.closest(LINE) : null;
  return line?.parentElement == null ? 0 : topOf(line) - topOf(line.parentElement) - line.parentElement.clientTop;
}

const heightOf = (element: Element): number => element.getBoundingClientRect().height;
const topOf = (element: Element): number => element.getBoundingClientRect().top;
