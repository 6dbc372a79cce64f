/**
 * Reads the hub's and the bridge's notices where they come in: a broken or newer peer must not be able to break its reader.
 * Members that are needed have the types they need or a stand-in; members nobody knows are kept. Pure.
 */
import type { QueueEntry, SettledAction, SettledNotice, TurnNotice, TurnState } from "./hub-methods.ts";
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "./json.ts";
import { type By, readBy, withHubMeta } from "./meta.ts";

const NOBODY: By = { connectionId: "unknown", device: "unknown", name: "unknown" };

/** Idle for a state nobody knows: a turn is never inferred (B4). */
export function readTurnState(value: unknown): TurnState {
  return value === "running" || value === "waiting" ? value : "idle";
}

function readAction(value: unknown): SettledAction {
  return value === "answered" || value === "cancelled" || value === "withdrawn" ? value : "ended";
}

export function readQueue(params: JsonObject): QueueEntry[] {
  return (arrayAt(params, "queue") ?? []).filter(isObject).map((entry) => {
    const promptId = stringAt(entry, "promptId");
    return {
      by: readBy(entry["by"]) ?? NOBODY,
      queuedAt: numberAt(entry, "queuedAt") ?? 0,
      title: stringAt(entry, "title") ?? "",
      ...(promptId !== undefined && { promptId }),
    };
  });
}

/** A turn as it stands. Without `sessionId` (in a load's result) it is the empty string. */
export function readTurnNotice(params: JsonObject): TurnNotice {
  const {
    by: _by,
    promptId: _promptId,
    stopReason: _stopReason,
    error: _error,
    ...rest
  } = withHubMeta(params, undefined);
  const by = readBy(params["by"]);
  const [promptId, stopReason] = [stringAt(params, "promptId"), stringAt(params, "stopReason")];
  const error = objectAt(params, "error");
  return {
    ...rest,
    sessionId: stringAt(params, "sessionId") ?? "",
    state: readTurnState(params["state"]),
    queue: readQueue(params),
    ...(by !== undefined && { by }),
    ...(promptId !== undefined && { promptId }),
    ...(stopReason !== undefined && { stopReason }),
    ...(error !== undefined && {
      error: { ...error, code: numberAt(error, "code") ?? 0, message: stringAt(error, "message") ?? "" },
    }),
  };
}

/** How an interaction ended; undefined when it names none. */
export function readSettledNotice(params: JsonObject): SettledNotice | undefined {
  const interactionId = stringAt(params, "interactionId");
  const outcome = objectAt(params, "outcome");
  if (interactionId === undefined || outcome === undefined) return undefined;
  const { sessionId: _sessionId, toolCallId: _toolCallId, ...rest } = withHubMeta(params, undefined);
  const [sessionId, toolCallId] = [stringAt(params, "sessionId"), stringAt(params, "toolCallId")];
  return {
    ...rest,
    interactionId,
    outcome: { ...outcome, action: readAction(outcome["action"]) },
    by: readBy(params["by"]) ?? NOBODY,
    at: numberAt(params, "at") ?? 0,
    ...(sessionId !== undefined && { sessionId }),
    ...(toolCallId !== undefined && { toolCallId }),
  };
}
