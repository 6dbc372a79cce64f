/** A tool card in one line: verb, target, how it stands. Pure. */
import type { ToolItem } from "../../client/index.ts";
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { commandOf } from "../approval/question.ts";
import type { IconName } from "../ui/icon-paths.ts";
import { baseName } from "../ui/path.ts";

export type ToolStatus = "pending" | "running" | "done" | "failed";

export interface ToolSummary {
  readonly icon: IconName;
  readonly title: string;
  /** What it is about, where the title does not say: a file, a command. */
  readonly target: string | undefined;
  /** "+3 −1", "exit 2". */
  readonly result: string | undefined;
  readonly status: ToolStatus;
}

const ICONS = new Map<string, IconName>([
  ["read", "file"],
  ["edit", "edit"],
  ["delete", "trash"],
  ["move", "file"],
  ["search", "search"],
  ["execute", "terminal"],
  ["think", "bulb"],
  ["fetch", "globe"],
  ["switch_mode", "gear"],
]);

const STATUS = new Map<string, ToolStatus>([
  ["pending", "pending"],
  ["in_progress", "running"],
  ["completed", "done"],
  ["failed", "failed"],
]);

export function summarize({ card }: ToolItem): ToolSummary {
  const kind = stringAt(card, "kind") ?? "other";
  const title = stringAt(card, "title") ?? stringAt(card, "name") ?? "Tool call";
  return {
    icon: ICONS.get(kind) ?? "tool",
    title,
    target: targetOf(card, title),
    result: resultOf(card),
    status: STATUS.get(stringAt(card, "status") ?? "pending") ?? "pending",
  };
}

export const STATUS_WORDS: Readonly<Record<ToolStatus, string>> = {
  pending: "waiting",
  running: "running",
  done: "done",
  failed: "failed",
};

function targetOf(card: JsonObject, title: string): string | undefined {
  const command = commandOf(objectAt(card, "rawInput"));
  const location = (arrayAt(card, "locations") ?? []).filter(isObject)[0];
  const path = stringAt(location, "path");
  const target = command ?? (path === undefined ? undefined : baseName(path));
  return target === undefined || title.includes(target) ? undefined : target.split("\n")[0];
}

function resultOf(card: JsonObject): string | undefined {
  const exit = exitCode(card);
  if (exit !== undefined && exit !== 0) return `exit ${exit}`;
  const diffs = contents(card).filter((part) => part["type"] === "diff");
  if (diffs.length === 0) return undefined;
  const counts = diffs.map((part) => lineCounts(stringAt(part, "oldText") ?? "", stringAt(part, "newText") ?? ""));
  return `+${sum(counts.map((count) => count.added))} −${sum(counts.map((count) => count.removed))}`;
}

export function exitCode(card: JsonObject): number | undefined {
  const exit = objectAt(objectAt(card, "_meta"), "terminal_exit");
  return numberAt(exit, "exit_code") ?? numberAt(exit, "exitCode");
}

export const contents = (card: JsonObject): readonly JsonObject[] => (arrayAt(card, "content") ?? []).filter(isObject);

/** Changed lines by a count of equal ones: good enough for a summary, and cheap. */
export function lineCounts(before: string, after: string): { readonly added: number; readonly removed: number } {
  const rest = new Map<string, number>();
  const old = before === "" ? [] : before.split("\n");
  const fresh = after === "" ? [] : after.split("\n");
  for (const line of old) rest.set(line, (rest.get(line) ?? 0) + 1);
  let kept = 0;
  for (const line of fresh) {
    const left = rest.get(line) ?? 0;
    if (left === 0) continue;
    rest.set(line, left - 1);
    kept += 1;
  }
  return { added: fresh.length - kept, removed: old.length - kept };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
