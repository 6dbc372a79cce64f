/** A stored tool call as one complete card: used by replay, and for calls whose events never came. */
import { type JsonObject, objectAt, stringAt } from "../../../protocol/json.ts";
import { diffOf } from "./diff.ts";
import { fenced, textBlock, type Update } from "./event.ts";
import { displayOf, type ZToolPart } from "./messages.ts";
import { isAgentTool, toolKind, toolLocations, toolTitle } from "./tool-look.ts";
import { bounded, errorText, RAW_OUTPUT_MAX, resultText, subagentMeta } from "./tool-result.ts";

const STATUS: Readonly<Record<string, string>> = {
  pending: "pending",
  running: "in_progress",
  completed: "completed",
  error: "failed",
};

/** The status of a stored call in ACP's words. */
export const storedStatus = (tool: ZToolPart): string =>
  STATUS[stringAt(tool.state, "status") ?? "completed"] ?? "completed";

/** One `tool_call` with everything the store knows. `isOver` closes a call that no running turn owns any more. */
export function storedToolCard(tool: ZToolPart, isOver: boolean): Update {
  const { state } = tool;
  const input = objectAt(state, "input");
  const known = storedStatus(tool);
  const status = isOver && (known === "pending" || known === "in_progress") ? "failed" : known;
  const output =
    status === "failed" && state["error"] !== undefined ? errorText(state["error"]) : resultText(state["output"]);
  const diff = diffOf(displayOf(tool));
  const locations = diff?.locations ?? toolLocations(tool.tool, input);
  const body = tool.tool === "Bash" ? fenced(bounded(output), "console") : bounded(output);
  const content: JsonObject[] = diff !== undefined ? [...diff.content] : output === "" ? [] : [textBlock(body)];
  const meta: JsonObject = tool.tool === undefined ? {} : { claudeCode: { toolName: tool.tool } };
  if (isAgentTool(tool.tool)) meta["subagent"] = subagentMeta(output, input?.["run_in_background"] === true);
  return {
    sessionUpdate: "tool_call",
    toolCallId: tool.callId,
    title: tool.tool === undefined ? (stringAt(state, "title") ?? "Tool") : toolTitle(tool.tool, input),
    kind: toolKind(tool.tool),
    status,
    rawInput: input ?? {},
    ...(output === "" ? {} : { rawOutput: output.slice(0, RAW_OUTPUT_MAX) }),
    ...(content.length === 0 ? {} : { content }),
    ...(locations === undefined ? {} : { locations: [...locations] }),
    _meta: meta,
  };
}
