/** How a tool call looks to a client: its kind, its title, and the places it touches. */
import { type JsonObject, numberAt, stringAt } from "../../../protocol/json.ts";

const KINDS: Readonly<Record<string, string>> = {
  Bash: "execute",
  Edit: "edit",
  MultiEdit: "edit",
  Write: "edit",
  NotebookEdit: "edit",
  Read: "read",
  Grep: "search",
  Glob: "search",
  WebFetch: "fetch",
  WebSearch: "fetch",
  ExitPlanMode: "switch_mode",
};

const SUMMARY_KEYS = ["command", "description", "query", "file_path", "path", "pattern", "prompt"] as const;
const SUMMARY_MAX = 60;

export const toolKind = (name: string | undefined): string =>
  (name !== undefined && Object.hasOwn(KINDS, name) ? KINDS[name] : undefined) ?? "other";
export const isAgentTool = (name: string | undefined): boolean => name === "Agent" || name === "Task";
export const isEditTool = (name: string | undefined): boolean => toolKind(name) === "edit";

function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= SUMMARY_MAX ? line : `${line.slice(0, SUMMARY_MAX - 1)}…`;
}

function summaryOf(input: JsonObject): string {
  for (const key of SUMMARY_KEYS) {
    const value = stringAt(input, key);
    // The command is what a person approves, so it is never cut.
    if (value !== undefined && value !== "") return key === "command" ? value : shortened(value);
  }
  return Object.keys(input).length === 0 ? "" : shortened(JSON.stringify(input));
}

/** `Bash: ls -la`, or the bare name when the input says nothing. */
export function toolTitle(name: string | undefined, input: JsonObject | undefined): string {
  const shown = name ?? "Tool";
  const summary = input === undefined ? "" : summaryOf(input);
  return summary === "" ? shown : `${shown}: ${summary}`;
}

/** Files and folders a call names in its input; lines count from 1. */
export function toolLocations(name: string | undefined, input: JsonObject | undefined): JsonObject[] | undefined {
  if (name === undefined || input === undefined) return undefined;
  const file = stringAt(input, "file_path");
  if (name === "Read" && file !== undefined) return [{ path: file, line: Math.max(1, numberAt(input, "offset") ?? 1) }];
  if (isEditTool(name) && file !== undefined) return [{ path: file }];
  const path = stringAt(input, "path");
  return (name === "Glob" || name === "Grep") && path !== undefined ? [{ path }] : undefined;
}
