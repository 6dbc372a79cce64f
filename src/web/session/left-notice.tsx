/** The session goes on at another instance (S9): says where, and leads there. */
import type { ReactElement } from "react";
import { placeOf, successorOf } from "../app/home-store.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { hrefOf } from "../app/route.ts";
import { Icon } from "../ui/icon.tsx";

export interface LeftNoticeProps {
  readonly sessionId: string;
  /** Where it is read; undefined: not known yet. */
  readonly instanceId: string | undefined;
}

export function LeftNotice({ sessionId, instanceId }: LeftNoticeProps): ReactElement | null {
  const home = useObservable(useServices().home.state);
  const instance = home.instances.find(({ id }) => id === instanceId);
  const successor = instance === undefined ? undefined : successorOf(home, instance, sessionId);
  if (successor === undefined) return null;
  return (
    <div className="left-notice" role="status">
      <Icon name="link" />
      <p>This session goes on in {placeOf(successor)}.</p>
      <a className="button" href={hrefOf({ screen: "session", sessionId, instanceId: successor.id })}>
        Go there
      </a>
    </div>
  );
}
