/** Every ACP method of a remote connection and who may use it (contract §2), written down apart from the code. */
import type { JsonObject } from "../../../src/protocol/json.ts";

/** `answer|prompt`: either; `prompt+answer`: both; `nobody`: it has no business here, under whatever scope. */
export type Needs = "read" | "answer|prompt" | "prompt" | "prompt+answer" | "admin" | "nobody";

export interface MethodEntry {
  readonly method: string;
  readonly needs: Needs;
  /** Beside `sessionId` of the live session. */
  readonly params?: JsonObject;
  /** What happens with it when it has a case of its own. */
  readonly note?: string;
  /** True when a caller with the scope is seen by the agent. */
  readonly reachesAgent?: boolean;
}

const COLD: JsonObject = { sessionId: "cold", mcpServers: [] };
const STDIO = [{ name: "evil", command: "/bin/sh", args: ["-c", "id"], env: [] }];

export const REQUESTS: readonly MethodEntry[] = [
  { method: "session/list", needs: "read", params: {} },
  { method: "session/status", needs: "read", reachesAgent: true },
  { method: "session/load", needs: "read", params: { cwd: "/x", mcpServers: [] }, note: "live: the journal serves it" },
  { method: "session/resume", needs: "read", params: { cwd: "/x" }, note: "live" },
  { method: "session/attach", needs: "read", params: { historyPolicy: "none" } },
  { method: "session/load_earlier", needs: "read", params: { before: "0:0" } },
  { method: "session/detach", needs: "read" },
  { method: "_acp-hub/load_earlier", needs: "read", params: { before: 1, limit: 1 } },
  { method: "_acp-hub/queue/list", needs: "read" },
  { method: "session/load", needs: "prompt", params: COLD, note: "not live: the agent is asked", reachesAgent: true },
  { method: "session/resume", needs: "prompt", params: COLD, note: "not live", reachesAgent: true },
  { method: "session/close", needs: "read", params: { sessionId: "s1" }, note: "detaches" },
  {
    method: "session/close",
    needs: "prompt",
    params: { _meta: { "acp-hub": { force: true } } },
    note: "forced",
    reachesAgent: true,
  },
  { method: "session/prompt", needs: "prompt", params: { prompt: [{ type: "text", text: "go" }] }, reachesAgent: true },
  { method: "session/new", needs: "prompt", params: { mcpServers: [] }, reachesAgent: true },
  { method: "session/fork", needs: "prompt", params: {}, reachesAgent: true },
  { method: "session/set_title", needs: "prompt", params: { title: "t" }, reachesAgent: true },
  { method: "_acp-hub/queue/remove", needs: "prompt", params: { promptId: "none" } },
  { method: "_acp-hub/queue/move", needs: "prompt", params: { promptId: "none", index: 0 } },
  { method: "session/cancelBackgroundTask", needs: "prompt", params: { taskId: "t" }, reachesAgent: true },
  { method: "session/goal", needs: "prompt", reachesAgent: true },
  { method: "something/new", needs: "prompt", reachesAgent: true },
  { method: "_vendor/something", needs: "prompt", reachesAgent: true },
  { method: "_zcode/session/goal", needs: "prompt", reachesAgent: true },
  { method: "session/set_mode", needs: "prompt+answer", params: { modeId: "yolo" }, reachesAgent: true },
  {
    method: "session/set_config_option",
    needs: "prompt+answer",
    params: { configId: "mode", value: "yolo" },
    reachesAgent: true,
  },
  { method: "session/set_model", needs: "prompt+answer", params: { modelId: "m" }, reachesAgent: true },
  // The same power under a name of the agent's own.
  { method: "session/setMode", needs: "prompt+answer", params: { mode: "yolo" }, reachesAgent: true },
  { method: "session/setModel", needs: "prompt+answer", params: { model: "m" }, reachesAgent: true },
  { method: "_zcode/session/setMode", needs: "prompt+answer", params: { mode: "yolo" }, reachesAgent: true },
  { method: "_zcode/session/set_mode", needs: "prompt+answer", params: { mode: "yolo" }, reachesAgent: true },
  {
    method: "_zcode/session/set_config_option",
    needs: "prompt+answer",
    params: { configId: "mode", value: "yolo" },
    reachesAgent: true,
  },
  { method: "authenticate", needs: "admin", params: { methodId: "m" }, reachesAgent: true },
  { method: "logout", needs: "admin", reachesAgent: true },
  { method: "providers/list", needs: "admin", reachesAgent: true },
  { method: "providers/set", needs: "admin", reachesAgent: true },
  { method: "_zcode/providers/set", needs: "admin", reachesAgent: true },
  { method: "session/archive", needs: "admin", params: { sessionId: "cold" }, reachesAgent: true },
  { method: "session/unarchive", needs: "admin", params: { sessionId: "cold" }, reachesAgent: true },
  { method: "session/delete", needs: "admin", params: { sessionId: "cold" }, reachesAgent: true },
  { method: "_zcode/session/delete", needs: "admin", params: { sessionId: "cold" }, reachesAgent: true },
  // Past the looks of contract §2: another name for what carries a command line, or for the lane.
  { method: "_zcode/session/new", needs: "nobody", params: { cwd: "/", mcpServers: STDIO } },
  { method: "_vendor/session/new", needs: "nobody", params: { cwd: "/", mcpServers: STDIO } },
  { method: "_zcode/session/load", needs: "nobody", params: { cwd: "/", mcpServers: STDIO } },
  { method: "_zcode/session/resume", needs: "nobody", params: { cwd: "/", mcpServers: STDIO } },
  { method: "_zcode/session/fork", needs: "nobody", params: { mcpServers: STDIO } },
  { method: "_zcode/session/prompt", needs: "nobody", params: { prompt: [] } },
  { method: "_zcode/session/close", needs: "nobody" },
  { method: "session/New", needs: "prompt", params: {}, note: "no name of ACP's", reachesAgent: true },
  { method: "_acp-hub/link/hello", needs: "nobody" },
  { method: "_acp-hub/link/propose", needs: "nobody", params: { interactionId: "x" } },
  { method: "_acp-hub/link/ping", needs: "nobody" },
  { method: "_acp-hub/unheard_of", needs: "nobody" },
];

/** `session/cancel` has a turn to end in its own test. */
export const NOTIFICATIONS: readonly MethodEntry[] = [
  { method: "something/new", needs: "prompt", reachesAgent: true },
  { method: "_vendor/something", needs: "prompt", reachesAgent: true },
  { method: "providers/set", needs: "admin", reachesAgent: true, note: "and prompt, as every unknown notification" },
  { method: "session/archive", needs: "admin", reachesAgent: true, note: "and prompt" },
  // Requests of ACP are no notifications: an agent that took them for one would act on what nobody judged.
  { method: "initialize", needs: "nobody" },
  { method: "authenticate", needs: "nobody" },
  { method: "session/new", needs: "nobody", params: { cwd: "/", mcpServers: STDIO } },
  { method: "session/load", needs: "nobody", params: { cwd: "/", mcpServers: STDIO } },
  { method: "session/resume", needs: "nobody", params: { cwd: "/", mcpServers: STDIO } },
  { method: "session/fork", needs: "nobody", params: { mcpServers: STDIO } },
  { method: "session/list", needs: "nobody" },
  { method: "session/prompt", needs: "nobody", params: { prompt: [] } },
  { method: "session/close", needs: "nobody" },
  { method: "session/delete", needs: "nobody" },
  { method: "session/set_mode", needs: "nobody", params: { modeId: "yolo" } },
  { method: "session/set_config_option", needs: "nobody", params: { configId: "mode", value: "yolo" } },
  { method: "_zcode/session/new", needs: "nobody", params: { cwd: "/", mcpServers: STDIO } },
  { method: "_zcode/session/setMode", needs: "nobody", params: { mode: "yolo" } },
  { method: "_acp-hub/link/propose", needs: "nobody", params: { interactionId: "x", result: {} } },
  { method: "_acp-hub/link/gone", needs: "nobody", params: { connectionId: "x" } },
  { method: "_acp-hub/turn", needs: "nobody" },
  { method: "$/ping", needs: "nobody" },
];
