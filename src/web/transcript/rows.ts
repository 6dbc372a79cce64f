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

export function buildRows(transcript: Transcript, waiting: readonly OutboxEntry[]): readonly Row[] {
  const rows: Row[] = [];
  let run: ToolItem[] = [];
  const flush = (): void => {
    const first = run[0];
    if (first !== undefined && run.length >= GROUP_FROM) rows.push({ kind: "tools", key: `g${first.key}`, items: run });
    else rows.push(...run.map(toolRow));
    run = [];
  };
  for (const item of transcript.items) {
    if (item.kind === "tool" && isLookUp(item, transcript)) {
      run.push(item);
      continue;
    }
    flush();
    if (item.kind === "tool") rows.push(toolRow(item));
    else if (isShown(item)) rows.push({ kind: "item", key: item.key, item });
  }
  flush();
  const shown = new Set(transcript.items.map((item) => (item.kind === "user" ? item.promptId : undefined)));
  for (const entry of waiting)
    if (!shown.has(entry.promptId)) rows.push({ kind: "pending", key: `q${entry.promptId}`, entry });
  return rows;
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
