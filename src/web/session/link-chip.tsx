/** How the link stands, in one chip; a tap tries again. */
import type { ReactElement } from "react";
import type { SessionClient } from "../../client/index.ts";
import { useNow, useObservable, useServices } from "../app/hooks.ts";
import { Icon } from "../ui/icon.tsx";
import { type LinkView, linkState } from "./link-state.ts";

export interface LinkChipProps {
  readonly session: SessionClient;
  readonly view: LinkView;
}

export function LinkChip({ session, view }: LinkChipProps): ReactElement {
  const { client } = useServices();
  const connection = useObservable(client.connection.state);
  // Only a countdown changes with every second.
  const now = useNow(connection.kind === "reconnecting" ? 1000 : 60_000);
  const link = linkState(connection, view, now);
  const retry = (): void => {
    if (connection.kind === "stopped") client.start();
    else if (connection.kind === "ready") void session.attach();
    else client.connection.wake();
  };
  return (
    <button
      type="button"
      className={`chip link-chip ${link.tone}`}
      data-link={link.text.split(" ")[0]?.toLowerCase()}
      disabled={!link.canRetry}
      onClick={retry}
      title={link.canRetry ? "Try again now" : link.text}
    >
      {link.icon === undefined ? (
        <span className={link.isStale ? "dot pulse" : "dot"} />
      ) : (
        <Icon name={link.icon} small />
      )}
      <span className="truncate link-text">{link.text}</span>
    </button>
  );
}
