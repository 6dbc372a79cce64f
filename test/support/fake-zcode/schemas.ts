/** What the real app-server accepts: a frame, a parameter or an answer outside these tables is refused, and recorded. */
import { isObject, type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";

type Check = "string" | "number" | "boolean" | "object" | "array" | "any";

export interface ParamTable {
  readonly required: Readonly<Record<string, Check>>;
  readonly optional: Readonly<Record<string, Check>>;
}

const table = (required: Record<string, Check>, optional: Record<string, Check> = {}): ParamTable => ({
  required,
  optional,
});
const sid = { sessionId: "string" } as const;
const revision = { expectedRevision: "number" } as const;

export const PARAMS: Readonly<Record<string, ParamTable>> = {
  "session/create": table(
    { workspace: "object" },
    {
      sessionId: "string",
      parentSessionId: "string",
      mode: "string",
      model: "object",
      persistence: "string",
      thoughtLevel: "string",
      titleGenerationEnabled: "boolean",
      mcpServers: "array",
      toolAllowlist: "array",
      toolDenylist: "array",
    },
  ),
  "session/resume": table(sid, {
    workspace: "object",
    thoughtLevel: "string",
    mcpServers: "array",
    toolAllowlist: "array",
    toolDenylist: "array",
  }),
  "session/list": table({}, { workspace: "object", sessionIds: "array", includeArchived: "boolean", limit: "number" }),
  "session/read": table(sid, { deliveryKind: "string", messageLimit: "number", afterSeq: "number" }),
  "session/messages": table(sid, { afterMessageId: "string", limit: "number" }),
  "session/events": table(sid, { afterSeq: "number", limit: "number" }),
  "session/subscribe": table({ ...sid, deliveryKind: "string" }, { afterSeq: "number", includeSnapshot: "boolean" }),
  "session/send": table(
    { ...sid, content: "string" },
    {
      attachments: "array",
      modelSelection: "object",
      inputId: "string",
      queryId: "string",
      ...revision,
      toolDenylist: "array",
    },
  ),
  "session/stop": table(sid),
  "session/close": table(sid, { expectedPersistence: "string" }),
  "session/compact": table(sid, { inputId: "string", instructions: "string", ...revision }),
  "session/goal": table({ ...sid, action: "string" }, { inputId: "string", objective: "string", ...revision }),
  "session/fork": table({ ...sid, target: "object" }, revision),
  "session/setMode": table({ ...sid, mode: "string" }, revision),
  "session/setThoughtLevel": table(
    { ...sid, thoughtLevel: "string" },
    { ...revision, persistAsWorkspaceLastUsed: "boolean" },
  ),
  "session/setModel": table({ ...sid, model: "any" }, { ...revision, persistAsWorkspaceLastUsed: "boolean" }),
  "session/cancelBackgroundTask": table({ ...sid, taskId: "string" }),
  "session/steer": table({ ...sid, content: "string" }),
  "session/rewind": table({ ...sid, target: "object" }, revision),
  "session/rewindCascade": table({ ...sid, target: "object" }, revision),
  "v4/command": table({
    commandId: "string",
    clientId: "string",
    ...sid,
    type: "string",
    issuedAt: "number",
    payload: "object",
  }),
};

const isA = (value: unknown, check: Check): boolean => {
  if (check === "any") return value !== undefined;
  if (check === "array") return Array.isArray(value);
  if (check === "object") return isObject(value);
  return typeof value === check;
};

/** What is wrong with the parameters of a call, in the backend's words; undefined when nothing is. */
export function paramProblem(method: string, params: JsonObject): string | undefined {
  const known = PARAMS[method];
  if (known === undefined) return undefined;
  for (const key of Object.keys(params)) {
    const check = known.required[key] ?? known.optional[key];
    if (check === undefined) return `Unrecognized key: "${key}"`;
    if (!isA(params[key], check)) return `Invalid params: "${key}" must be ${check}`;
    if (params[key] === "") return `Invalid params: "${key}" must not be empty`;
  }
  for (const key of Object.keys(known.required))
    if (params[key] === undefined) return `Invalid params: "${key}" is required`;
  return workspaceProblem(objectAt(params, "workspace")) ?? mcpProblem(params["mcpServers"]);
}

const STDIO_KEYS = new Set(["name", "command", "args", "env", "isolation", "timeoutMs"]);
const PAIR_KEYS = new Set(["name", "value"]);

/** Entries are as strict as everything else. What an http or sse entry may hold besides is not known. */
function mcpProblem(servers: unknown): string | undefined {
  for (const server of Array.isArray(servers) ? servers.filter(isObject) : []) {
    const isStdio = server["type"] !== "http" && server["type"] !== "sse";
    const pairs = [server["env"], server["headers"]].flatMap((list) =>
      Array.isArray(list) ? list.filter(isObject) : [],
    );
    const stranger =
      Object.keys(server).find((key) => (isStdio ? !STDIO_KEYS.has(key) : key === "_meta")) ??
      pairs.flatMap((pair) => Object.keys(pair)).find((key) => !PAIR_KEYS.has(key));
    if (stranger !== undefined) return `Unrecognized key: "${stranger}"`;
  }
  return undefined;
}

function workspaceProblem(workspace: JsonObject | undefined): string | undefined {
  if (workspace === undefined) return undefined;
  for (const key of ["workspacePath", "workspaceKey"])
    if (!stringAt(workspace, key)) return `Invalid params: "workspace.${key}" is required`;
  return undefined;
}

const ENVELOPE_KEYS = new Set(["id", "method", "params", "trace", "result", "error"]);

/** What is wrong with an envelope; undefined when nothing is. */
export function envelopeProblem(frame: JsonObject): string | undefined {
  const stranger = Object.keys(frame).find((key) => !ENVELOPE_KEYS.has(key));
  if (stranger !== undefined) return `Unrecognized key: "${stranger}"`;
  const id = frame["id"];
  if (id !== undefined && typeof id !== "string" && !Number.isInteger(id)) return "Invalid id";
  return undefined;
}

function strangers(result: JsonObject, allowed: readonly string[]): string | undefined {
  const key = Object.keys(result).find((name) => !allowed.includes(name));
  return key === undefined ? undefined : `unexpected member "${key}"`;
}

function permissionProblem(result: JsonObject): string | undefined {
  const decision = stringAt(result, "decision") ?? "";
  if (!["allow", "deny", "escalate", "modify"].includes(decision)) return 'a permission needs "decision"';
  return strangers(result, ["decision", "reason", "modifiedInput", "permissionUpdates"]);
}

function inputProblem(result: JsonObject): string | undefined {
  const action = stringAt(result, "action") ?? "";
  if (!["accept", "decline", "cancel"].includes(action)) return 'user input needs "action"';
  return strangers(result, ["action", "content", "reason"]);
}

/** What is wrong with an answer to one of the backend's requests. */
export function answerProblem(method: string, result: unknown): string | undefined {
  if (!isObject(result)) return "an answer must be an object";
  if (method === "interaction/requestPermission") return permissionProblem(result);
  if (method === "interaction/requestUserInput") return inputProblem(result);
  if (method === "session/requestRuntimePreferences") {
    return typeof result["nativeSearchEnhancementsEnabled"] === "boolean" &&
      typeof result["memoryEnabled"] === "boolean"
      ? undefined
      : "preferences are incomplete";
  }
  if (method === "interaction/requestProviderRuntimeHeaders") {
    return typeof result["headersApplied"] === "boolean" ? undefined : 'headers need "headersApplied"';
  }
  return undefined;
}

/** The answer the plan tool acts on: allowed, denied, or denied with feedback. */
export function planDecision(result: JsonObject): { readonly allowed: boolean; readonly feedback?: string } {
  if (result["action"] !== "accept") return { allowed: false };
  const content = objectAt(result, "content") ?? {};
  const answers = objectAt(content, "answers");
  const said =
    stringAt(answers, "Review this implementation plan.") ??
    stringAt(content, "answer_0") ??
    stringAt(content, "answer");
  if (said === "approve") return { allowed: true };
  return said === undefined ? { allowed: false } : { allowed: false, feedback: said };
}
