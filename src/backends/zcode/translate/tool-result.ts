/** Result and error texts of tools, and what a sub-agent's report says about its run. */
import { arrayAt, isObject, type Json, type JsonObject, stringAt } from "../../../protocol/json.ts";

export const RAW_OUTPUT_MAX = 2_000;
const CONTENT_MAX = 65_536;

/** The text of a result's `content`, whatever shape it has. */
export function resultText(content: Json | undefined): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (Array.isArray(content)) {
    return content
      .map((part) => (isObject(part) ? (stringAt(part, "text") ?? JSON.stringify(part)) : resultText(part)))
      .join("\n");
  }
  if (isObject(content)) return stringAt(content, "text") ?? JSON.stringify(content);
  return String(content);
}

/** `text` with its middle cut out when it is longer than a card should be. */
export function bounded(text: string, max: number = CONTENT_MAX): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half)}\n… ${text.length - 2 * half} characters left out …\n${text.slice(-half)}`;
}

/** What to show of an error detail: its message and, where it adds something, the cause beneath. */
export function errorText(error: Json | undefined): string {
  if (typeof error === "string") return error;
  if (!isObject(error)) return "The tool failed";
  const message = stringAt(error, "message") ?? stringAt(error, "type") ?? "The tool failed";
  const beneath = stringAt(error, "underlyingErrorMessage") ?? stringAt(error, "detail");
  return beneath === undefined || message.includes(beneath) ? message : `${message}\n${beneath}`;
}

const number = (text: string, key: string): number | undefined => {
  const found = new RegExp(`${key}\\W{1,6}(\\d+)`).exec(text);
  return found === null ? undefined : Number(found[1]);
};

/** `_meta.subagent` of a finished Agent or Task call. */
export function subagentMeta(text: string, isBackground: boolean): JsonObject {
  const meta: JsonObject = {};
  const agentId = /agentId\W{1,6}(agent_[\w-]+)/.exec(text)?.[1];
  const counts = { tokens: "subagent_tokens", toolUses: "tool_uses", durationMs: "duration_ms" } as const;
  if (agentId !== undefined) meta["agentId"] = agentId;
  for (const [key, name] of Object.entries(counts)) {
    const value = number(text, name);
    if (value !== undefined) meta[key] = value;
  }
  if (isBackground) meta["background"] = true;
  return meta;
}

/** Ids named by a batch event. */
export const batchIds = (payload: JsonObject): string[] =>
  (arrayAt(payload, "toolCallIds") ?? []).filter((id): id is string => typeof id === "string");
