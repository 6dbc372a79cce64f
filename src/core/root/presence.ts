/** Who else is in the editor's sessions, for an editor that understands it (contract §4). The hub says it; without a hub nobody is. */
import { notification } from "../../protocol/envelope.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { arrayAt, type JsonObject, numberAt } from "../../protocol/json.ts";
import { PRIMARY } from "../../protocol/meta.ts";
import type { Primary, RootContext } from "./context.ts";
import type { RootSession } from "./session.ts";

/** An editor that is alone and was not told otherwise hears nothing. */
export function passPresence(context: RootContext, session: RootSession, params: JsonObject): void {
  const count = numberAt(params, "count") ?? 0;
  const isNews = count > 1 || session.hasCompany;
  session.hasCompany = count > 1;
  if (isNews) tell(context, session, { clients: arrayAt(params, "clients") ?? [], count });
}

/** The hub is gone, and everyone with it. */
export function tellAlone(context: RootContext, session: RootSession): void {
  const { primary } = context;
  if (primary === undefined || !session.hasCompany) return;
  session.hasCompany = false;
  tell(context, session, { clients: [entryOf(primary)], count: 1 });
}

function tell(context: RootContext, session: RootSession, who: JsonObject): void {
  if (!session.hasPrimary || context.livePrimary?.abilities.isExtended !== true) return;
  context.ports.toPrimary(JSON.stringify(notification(HUB.presence, { sessionId: session.id, ...who })));
}

const entryOf = ({ name, clientInfo }: Primary): JsonObject => ({
  connectionId: PRIMARY,
  device: PRIMARY,
  name,
  client: clientInfo,
  primary: true,
});
