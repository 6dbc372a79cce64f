/** A session as a file: JSON for programs, Markdown for people. Pure. */

import type { HistoryItem } from "../core/journal/history-page.ts";
import { itemParams } from "../core/journal/item.ts";
import { HUB } from "../protocol/hub-methods.ts";
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import type { SessionRecord } from "../store/ports.ts";

export function exportJson(record: SessionRecord, items: readonly HistoryItem[]): string {
  const { sessionId, agent, cwd, title, createdAt, updatedAt } = record;
  const events = items.map(({ epoch, item }) => ({
    epoch,
    seq: item.last,
    ts: item.ts,
    method: item.method,
    params: itemParams(item),
    ...(item.by !== undefined && { by: item.by }),
  }));
  return JSON.stringify({ sessionId, agent, cwd, title: title ?? null, createdAt, updatedAt, events }, null, 2);
}

export function exportMarkdown(record: SessionRecord, items: readonly HistoryItem[]): string {
  const head = [`# ${record.title ?? record.sessionId}`, "", `- agent: ${record.agent}`, `- workspace: ${record.cwd}`];
  const times = [`- from ${iso(record.createdAt)} to ${iso(record.updatedAt)}`, ""];
  return [
    ...head,
    ...times,
    ...items.flatMap(({ item }) => section(item.method, itemParams(item), item.by?.name)),
  ].join("\n");
}

const iso = (at: number): string => new Date(at).toISOString();

function section(method: string, params: JsonObject, author: string | undefined): string[] {
  if (method === HUB.interactionSettled) {
    const outcome = objectAt(params, "outcome");
    const what = stringAt(outcome, "optionName") ?? stringAt(outcome, "optionId") ?? stringAt(outcome, "action") ?? "";
    return [`> ${what}, by ${stringAt(objectAt(params, "by"), "name") ?? "someone"}`, ""];
  }
  const update = objectAt(params, "update");
  if (update === undefined) return [];
  switch (update["sessionUpdate"]) {
    case "user_message_chunk":
      return [`## ${author ?? "User"}`, "", blockText(update["content"]), ""];
    case "agent_message_chunk":
      return ["## Agent", "", blockText(update["content"]), ""];
    case "agent_thought_chunk":
      return ["<details><summary>Thought</summary>", "", blockText(update["content"]), "", "</details>", ""];
    case "tool_call":
    case "tool_call_update":
      return toolCall(update);
    case "plan":
      return plan(update);
    default:
      return [];
  }
}

function blockText(content: Json | undefined): string {
  if (!isObject(content)) return "";
  if (content["type"] === "text") return stringAt(content, "text") ?? "";
  const name = stringAt(content, "name") ?? stringAt(content, "uri") ?? stringAt(content, "mimeType") ?? "";
  return `[${stringAt(content, "type") ?? "content"}${name === "" ? "" : `: ${name}`}]`;
}

/** A fence longer than any run of backticks inside. */
function fenced(text: string, language = ""): string[] {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}${language}`, text, fence, ""];
}

function toolCall(update: JsonObject): string[] {
  const title = stringAt(update, "title") ?? stringAt(update, "toolCallId") ?? "tool";
  const lines = [`### ${title} (${stringAt(update, "status") ?? "pending"})`, ""];
  for (const content of arrayAt(update, "content") ?? []) {
    if (!isObject(content)) continue;
    if (content["type"] === "diff") {
      lines.push(`${stringAt(content, "path") ?? ""}`, "", ...fenced(stringAt(content, "newText") ?? ""));
    } else lines.push(...fenced(blockText(content["content"])));
  }
  const output = stringAt(objectAt(objectAt(update, "_meta"), "terminal_output"), "data");
  if (output !== undefined) lines.push(...fenced(output));
  return lines;
}

function plan(update: JsonObject): string[] {
  const entries = (arrayAt(update, "entries") ?? []).filter(isObject);
  const marks = entries.map(
    (entry) => `- [${entry["status"] === "completed" ? "x" : " "}] ${stringAt(entry, "content") ?? ""}`,
  );
  return ["**Plan**", "", ...marks, ""];
}
