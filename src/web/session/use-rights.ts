/** What this device may do. */
import type { Scope } from "../../protocol/scopes.ts";
import { scopesOf } from "../app/access.ts";
import { useObservable, useServices } from "../app/hooks.ts";

/** Whether this device has a right. Unknown rights count as given: the hub says no itself. */
export function useRights(): (scope: Scope) => boolean {
  const { access, client } = useServices();
  const known = scopesOf(useObservable(access.access));
  const connection = useObservable(client.connection.state);
  const scopes = connection.kind === "ready" && connection.info.scopes.size > 0 ? connection.info.scopes : known;
  return (scope) => scopes?.has(scope) ?? true;
}
