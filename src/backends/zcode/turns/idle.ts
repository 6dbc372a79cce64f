/** Whether ZCode itself says that nothing runs in a session. */
import { objectAt, stringAt } from "../../../protocol/json.ts";
import { isKind, type ZcodeErrorKind } from "../rpc/errors.ts";
import type { Lifecycle } from "../sessions/lifecycle.ts";
import type { Session } from "../sessions/session.ts";

/** `also`: refusals that mean the same, for the caller. Any other fault says nothing: false. */
export async function isIdle(lifecycle: Lifecycle, session: Session, ...also: ZcodeErrorKind[]): Promise<boolean> {
  try {
    const snapshot = await lifecycle.call(session, "session/read", { messageLimit: 1 });
    const status = stringAt(objectAt(snapshot, "projection"), "status");
    return status !== undefined && status !== "running" && status !== "waiting";
  } catch (error) {
    return isKind(error, "not-active", ...also);
  }
}
