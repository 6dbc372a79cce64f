/** The reducer's working copy: the item list is copied once per batch, and looked up from the end. */
import type { Transcript, TranscriptItem } from "./item.ts";

/**
 * Items a phone holds. Older ones are let go from the front and can be loaded again (`load_earlier`). Pages a reader asked for
 * come on top: what is new moves them on, it does not take them back.
 */
export const ITEMS_MAX = 10_000;

/** Above this many inputs an index pays for itself; a single live update scans from the end instead. */
const INDEX_FROM = 8;

type Identity = `${TranscriptItem["kind"]}:${string}`;

function identityOf(item: TranscriptItem): Identity | undefined {
  if (item.kind === "tool") return `tool:${item.toolCallId}`;
  if (item.kind !== "user" && item.kind !== "agent" && item.kind !== "thought") return undefined;
  return item.messageId === undefined ? undefined : `${item.kind}:${item.messageId}`;
}

export class Draft {
  readonly items: TranscriptItem[];
  rest: Omit<Transcript, "items">;
  readonly #index: Map<Identity, number> | undefined;
  readonly #max: number;

  constructor(before: Transcript, inputCount: number) {
    const { items, ...rest } = before;
    this.items = [...items];
    this.rest = rest;
    this.#max = Math.max(ITEMS_MAX, items.length);
    if (inputCount < INDEX_FROM) return;
    this.#index = new Map();
    for (const [at, item] of this.items.entries()) this.#note(item, at);
  }

  /** Where the item with this identity stands; the latest one where several do. */
  find(identity: Identity): number | undefined {
    if (this.#index !== undefined) return this.#index.get(identity);
    const at = this.items.findLastIndex((item) => identityOf(item) === identity);
    return at < 0 ? undefined : at;
  }

  push(item: TranscriptItem): void {
    this.items.push(item);
    this.#note(item, this.items.length - 1);
  }

  replace(at: number, item: TranscriptItem): void {
    this.items[at] = item;
    this.#note(item, at);
  }

  nextUnnumbered(): number {
    this.rest = { ...this.rest, unnumbered: this.rest.unnumbered + 1 };
    return this.rest.unnumbered;
  }

  finish(): Transcript {
    const excess = this.items.length - this.#max;
    if (excess <= 0) return { ...this.rest, items: this.items };
    const settled = settledWithout(this.items.slice(0, excess), this.rest.settled);
    return { ...this.rest, settled, items: this.items.slice(excess) };
  }

  #note(item: TranscriptItem, at: number): void {
    const identity = identityOf(item);
    if (identity !== undefined) this.#index?.set(identity, at);
  }
}

/** What was decided about tools goes with them. */
function settledWithout(gone: readonly TranscriptItem[], settled: Transcript["settled"]): Transcript["settled"] {
  const ids = new Set(gone.map((item) => (item.kind === "tool" ? item.toolCallId : undefined)));
  const entries = Object.entries(settled);
  const kept = entries.filter(([toolCallId]) => !ids.has(toolCallId));
  // The same object where nothing goes: rows are built anew when it changes.
  return kept.length === entries.length ? settled : Object.fromEntries(kept);
}

/** Something at the front was let go of between these two. */
export function hasLostFront(before: Transcript, after: Transcript): boolean {
  const first = before.items[0];
  return first !== undefined && after.items[0]?.key !== first.key;
}
