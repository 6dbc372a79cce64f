/** A session as a file: JSON for programs, Markdown for people. In parts, because a session may be large. Pure. */

import type { HistoryItem } from "../core/journal/history-page.ts";
import { itemParams } from "../core/journal/item.ts";
import { HUB } from "../protocol/hub-methods.ts";
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import type { SessionRecord } from "../store/ports.ts";

export function* jsonParts(record: SessionRecord, items: readonly HistoryItem[]): Iterable<string> {
  const { sessionId, agent, cwd, title, createdAt, updatedAt } = record;
  const head = JSON.stringify({ sessionId, agent, cwd, title: title ?? null, createdAt, updatedAt }, null, 2);
  yield `${head.slice(0, -"\n}".length)},\n  "events": [`;
  let separator = "";
  for (const { epoch, item } of items) {
    const { last: seq, ts, method, by } = item;
    const event = { epoch, seq, ts, method, params: itemParams(item), ...(by !== undefined && { by }) };
    yield `${separator}\n    ${JSON.stringify(event, null, 2).replaceAll("\n", "\n    ")}`;
    separator = ",";
  }
  yield items.length === 0 ? "]\n}" : "\n  ]\n}";
}

export function* markdownParts(record: SessionRecord, items: readonly HistoryItem[]): Iterable<string> {
  const head = [`# ${record.title ?? record.sessionId}`, "", `- agent: ${record.agent}`, `- workspace: ${record.cwd}`];
  yield [...head, `- from ${iso(record.createdAt)} to ${iso(record.updatedAt)}`, ""].join("\n");
  for (const { item } of items)
    for (const line of section(item.method, itemParams(item), item.by?.name)) yield `\n${line}`;
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
