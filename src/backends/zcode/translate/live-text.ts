/**
 * What of a text has been shown already, in constant memory: its length and two rolling hashes. That is enough to tell
 * whether the stored text begins with what was streamed, and to give only the rest.
 */

const KEPT_MAX = 65_536;

export class LiveText {
  #length = 0;
  #a = 0x811c9dc5;
  #b = 5381;
  #kept: string | undefined = "";
  /** Shown whole from the store: a delta that still comes was on the way, and is in it. */
  isWhole = false;

  get length(): number {
    return this.#length;
  }

  /** The shown text itself while it is short enough to hold, for a replay in the middle of the message. */
  get kept(): string | undefined {
    return this.#kept;
  }

  append(delta: string): void {
    for (let at = 0; at < delta.length; at++) this.#mix(delta.charCodeAt(at));
    if (this.#kept !== undefined) this.#kept = this.#length <= KEPT_MAX ? this.#kept + delta : undefined;
  }

  /** Lets go of the text; the rest works on. Called when the message is surely in the store. */
  forget(): void {
    this.#kept = undefined;
  }

  /** What `full` has beyond the shown text; undefined when it does not begin with it. */
  remainder(full: string): string | undefined {
    if (full.length < this.#length) return undefined;
    const probe = new LiveText();
    for (let at = 0; at < this.#length; at++) probe.#mix(full.charCodeAt(at));
    return probe.#a === this.#a && probe.#b === this.#b ? full.slice(this.#length) : undefined;
  }

  #mix(unit: number): void {
    this.#length++;
    this.#a = Math.imul(this.#a ^ unit, 0x01000193);
    this.#b = (Math.imul(this.#b, 33) + unit) | 0;
  }
}

/** LiveTexts by message id; the oldest go first when there are too many. */
export class LiveTexts {
  readonly #texts = new Map<string, LiveText>();
  readonly #max: number;
  #last: { readonly id: string; readonly text: LiveText } | undefined;

  constructor(max = 1_000) {
    this.#max = max;
  }

  get(id: string): LiveText | undefined {
    return this.#texts.get(id);
  }

  /** False when the message was shown whole already: the delta is not to be shown. */
  append(id: string, delta: string): boolean {
    if (this.#last?.id === id && !this.#last.text.isWhole) {
      this.#last.text.append(delta);
      return true;
    }
    // A new message began: the one before is complete and stored.
    this.#last?.text.forget();
    let text = this.#texts.get(id);
    if (text === undefined) {
      text = new LiveText();
      this.#texts.set(id, text);
      if (this.#texts.size > this.#max) {
        for (const oldest of this.#texts.keys()) {
          this.#texts.delete(oldest);
          break;
        }
      }
    }
    this.#last = { id, text };
    if (text.isWhole) return false;
    text.append(delta);
    return true;
  }
}
