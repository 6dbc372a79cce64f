/** What the list shows, built from a transcript. Pure. */
import type { OutboxEntry, ToolItem, Transcript, TranscriptItem } from "../../client/index.ts";
import { stringAt } from "../../protocol/json.ts";

export type Row =
  | { readonly kind: "item"; readonly key: string; readonly item: Exclude<TranscriptItem, ToolItem> }
  | { readonly kind: "tool"; readonly key: string; readonly item: ToolItem }
  /** A run of finished look-ups: one line until a person wants more. */
  | { readonly kind: "tools"; readonly key: string; readonly items: readonly ToolItem[] }
  /** A prompt of this device that has not started. */
  | { readonly kind: "pending"; readonly key: string; readonly entry: OutboxEntry };

const LOOK_UPS = new Set(["read", "search", "fetch", "think"]);
const GROUP_FROM = 3;

interface Built {
  readonly transcript: Transcript;
  readonly rows: readonly Row[];
  /** Where the items of each row begin. */
  readonly starts: readonly number[];
}

/** Builds rows anew only from the first item that changed: a stream changes the last one. */
export class RowBuilder {
  #last: Built | undefined;

  build(transcript: Transcript, waiting: readonly OutboxEntry[]): readonly Row[] {
    const built = this.#items(transcript);
    this.#last = built;
    if (waiting.length === 0) return built.rows;
    const shown = new Set(transcript.items.map((item) => (item.kind === "user" ? item.promptId : undefined)));
    const pending = waiting.filter((entry) => !shown.has(entry.promptId));
    return [...built.rows, ...pending.map((entry): Row => ({ kind: "pending", key: `q${entry.promptId}`, entry }))];
  }

  #items(transcript: Transcript): Built {
    const last = this.#last;
    if (last?.transcript.items === transcript.items && last.transcript.settled === transcript.settled) return last;
    const kept = last === undefined ? 0 : keptRows(last, transcript);
    const rows = last?.rows.slice(0, kept) ?? [];
    const starts = last?.starts.slice(0, kept) ?? [];
    appendRows(rows, starts, transcript, kept === 0 ? 0 : endOf(last, kept));
    return { transcript, rows, starts };
  }
}

export const buildRows = (transcript: Transcript, waiting: readonly OutboxEntry[]): readonly Row[] =>
  new RowBuilder().build(transcript, waiting);

/** The item after the first `count` rows. */
const endOf = (built: Built | undefined, count: number): number =>
  built?.starts[count] ?? built?.transcript.items.length ?? 0;

/** How many rows at the front stand as they are. The one before the change may be part of a run that goes on. */
function keptRows(last: Built, next: Transcript): number {
  if (last.transcript.settled !== next.settled) return 0;
  const before = last.transcript.items;
  let same = 0;
  while (same < before.length && before[same] === next.items[same]) same += 1;
  let rows = last.starts.length;
  while (rows > 0 && endOf(last, rows) > same) rows -= 1;
  while (rows > 0 && last.rows[rows - 1]?.kind !== "item") rows -= 1;
  return rows;
}

function appendRows(rows: Row[], starts: number[], transcript: Transcript, from: number): void {
  let run: ToolItem[] = [];
  const push = (row: Row, start: number): void => {
    rows.push(row);
    starts.push(start);
  };
  const flush = (end: number): void => {
    const first = run[0];
    const start = end - run.length;
    if (first !== undefined && run.length >= GROUP_FROM)
      push({ kind: "tools", key: `g${first.key}`, items: run }, start);
    else for (const [offset, item] of run.entries()) push(toolRow(item), start + offset);
    run = [];
  };
  const { items } = transcript;
  for (let at = from; at < items.length; at += 1) {
    const item = items[at];
    if (item === undefined) continue;
    if (item.kind === "tool" && isLookUp(item, transcript)) {
      run.push(item);
      continue;
    }
    flush(at);
    if (item.kind === "tool") push(toolRow(item), at);
    else if (isShown(item)) push({ kind: "item", key: item.key, item }, at);
  }
  flush(items.length);
}

const toolRow = (item: ToolItem): Row => ({ kind: "tool", key: item.key, item });

function isLookUp(item: ToolItem, transcript: Transcript): boolean {
  const isDone = stringAt(item.card, "status") === "completed";
  const isAsked = (transcript.settled[item.toolCallId] ?? []).length > 0;
  return isDone && !isAsked && LOOK_UPS.has(stringAt(item.card, "kind") ?? "");
}

/** Empty chunks carry usage for some agents: they are kept, not shown. */
function isShown(item: Exclude<TranscriptItem, ToolItem>): boolean {
  if (item.kind !== "agent" && item.kind !== "thought" && item.kind !== "user") return true;
  return item.blocks.some((block) => block["type"] !== "text" || (stringAt(block, "text") ?? "").trim() !== "");
}
