/** Stopping what the backend runs, in both ways it knows: each of them does nothing on some build. */
import type { Host } from "../host.ts";
import type { Session } from "../sessions/session.ts";

export const CLIENT_ID = "acp-hub";

/** Sends both stops now. Their answers do not matter; the turn's own end tells. */
export function stopBackend(host: Host, session: Session, foregroundExecutionId?: string): void {
  const live = host.supervisor.current;
  const sessionId = session.zcodeSid;
  if (live === undefined || sessionId === undefined) return;
  const ignore = (): void => {};
  live.connection.call("session/stop", { sessionId }).catch(ignore);
  const payload = foregroundExecutionId === undefined ? {} : { expectedForegroundExecutionId: foregroundExecutionId };
  live.connection
    .call("v4/command", {
      commandId: host.newId(),
      clientId: CLIENT_ID,
      sessionId,
      type: "stop",
      issuedAt: host.clock.now(),
      payload,
    })
    .catch(ignore);
}
