/**
 * Attaching the editor's sessions anew after a loss, by cursor, unseen (S3): the hub gives what was missed, and nothing else is
 * shown. A bridge may come back to a new hub a moment later than we do: until then its sessions are waited for.
 */
import { ACP } from "../../protocol/acp.ts";
import type { RpcResponse } from "../../protocol/envelope.ts";
import type { HubErrorCode } from "../../protocol/errors.ts";
import { isObject, type JsonObject, stringAt } from "../../protocol/json.ts";
import { HUB_META, hubMeta } from "../../protocol/meta.ts";
import type { AttachContext } from "./context.ts";
import type { SharedSession } from "./shared-session.ts";

const RETRY_MS = 400;
/** A bridge dials again within seconds, or it is gone. */
const PATIENCE_MS = 15_000;
const AWAY: ReadonlySet<string> = new Set<HubErrorCode>([
  "link-lost",
  "instance-gone",
  "instance-required",
  "unknown-session",
  "session-not-live",
  "agent-not-ready",
]);

export class Returns {
  readonly #context: AttachContext;
  readonly #onLost: (session: SharedSession) => void;
  #open = new Set<SharedSession>();
  #generation = 0;
  #onDone: () => void = () => undefined;

  /** `onLost`: the session does not come back; what waits for it is to be answered. */
  constructor(context: AttachContext, onLost: (session: SharedSession) => void) {
    this.#context = context;
    this.#onLost = onLost;
  }

  /** Attaches these; `onDone` once each is back or lost. */
  begin(sessions: readonly SharedSession[], onDone: () => void): void {
    this.#generation += 1;
    this.#onDone = onDone;
    this.#open = new Set(sessions);
    if (sessions.length === 0) return onDone();
    for (const session of sessions) this.#ask(session);
    return undefined;
  }

  /** One that lost its place while the link stands. */
  again(session: SharedSession): void {
    if (!this.#open.has(session)) this.#ask(session);
  }

  onDown(): void {
    this.#generation += 1;
    this.#open.clear();
  }

  #ask(session: SharedSession): void {
    const since = this.#context.options.clock.now();
    session.onReturnAsked();
    this.#load(session, since, this.#generation);
  }

  #load(session: SharedSession, since: number, generation: number): void {
    this.#context.request(ACP.sessionLoad, returnParams(session), (response) => {
      if (generation !== this.#generation) return;
      const { clock } = this.#context.options;
      if (isAway(response) && clock.now() - since < PATIENCE_MS) {
        clock.after(RETRY_MS, () => {
          if (generation === this.#generation) this.#load(session, since, generation);
        });
        return;
      }
      const isBack = "result" in response && !isReadOnly(response);
      session.onReturned(isBack && isObject(response.result) ? response.result : undefined);
      if (!isBack) {
        session.isOver = true;
        this.#onLost(session);
      }
      if (this.#open.delete(session) && this.#open.size === 0) this.#onDone();
    });
  }
}

/** History comes only where the editor has seen none of it and wanted it. */
function returnParams(session: SharedSession): JsonObject {
  const { cursor, instance, cwd, isWhole } = session;
  const ours: JsonObject = {
    history: isWhole ? "full" : "none",
    ...(cursor !== undefined && { cursor: { ...cursor } }),
    ...(instance !== undefined && { instance }),
  };
  return { sessionId: session.id, mcpServers: [], ...(cwd !== undefined && { cwd }), _meta: { [HUB_META]: ours } };
}

/** The hub has its record, but no agent behind it (S1 d). */
function isReadOnly(response: RpcResponse): boolean {
  const result = "result" in response && isObject(response.result) ? response.result : undefined;
  return hubMeta(result)?.["readOnly"] === true;
}

function isAway(response: RpcResponse): boolean {
  if (isReadOnly(response)) return true;
  const data = "error" in response && isObject(response.error.data) ? response.error.data : undefined;
  return AWAY.has(stringAt(data, "code") ?? "");
}
