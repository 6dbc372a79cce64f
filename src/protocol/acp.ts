/** The ACP v1 names this project routes by. Everything else passes through untouched. */

export const ACP = {
  initialize: "initialize",
  authenticate: "authenticate",
  logout: "logout",
  sessionNew: "session/new",
  sessionLoad: "session/load",
  sessionResume: "session/resume",
  sessionFork: "session/fork",
  sessionList: "session/list",
  sessionClose: "session/close",
  sessionDelete: "session/delete",
  sessionStatus: "session/status",
  sessionPrompt: "session/prompt",
  sessionCancel: "session/cancel",
  sessionSetMode: "session/set_mode",
  sessionSetModel: "session/set_model",
  sessionSetConfigOption: "session/set_config_option",
  sessionSetTitle: "session/set_title",
  sessionUpdate: "session/update",
  requestPermission: "session/request_permission",
  elicitationCreate: "elicitation/create",
  elicitationComplete: "elicitation/complete",
  cancelRequest: "$/cancel_request",
} as const;

/** The protocol version both sides speak today (I1). */
export const ACP_VERSION = 1;

/** Update kinds of which only the last matters to a reader (S4). */
export const STATE_KINDS: ReadonlySet<string> = new Set([
  "plan",
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
]);

/** Update kinds that stream text and join per message (S4). */
export const CHUNK_KINDS: ReadonlySet<string> = new Set([
  "user_message_chunk",
  "agent_message_chunk",
  "agent_thought_chunk",
]);

export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";
