/** A session's last state of a kind, for one client that did not get the event itself (S5): no number, it is no news. */
import { ACP } from "../../protocol/acp.ts";
import { notification } from "../../protocol/envelope.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { HUB_META } from "../../protocol/meta.ts";

export function stateText(sessionId: SessionId, update: JsonObject): string {
  return JSON.stringify(
    notification(ACP.sessionUpdate, { sessionId, update, _meta: { [HUB_META]: { synthetic: "local" } } }),
  );
}
