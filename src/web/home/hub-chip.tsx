/** Whether this page hears from the hub. */
import type { ReactElement } from "react";
import { useObservable, useServices } from "../app/hooks.ts";

export function HubChip(): ReactElement {
  const { events } = useServices();
  const state = useObservable(events.state);
  const isLive = state === "open";
  return (
    <button
      type="button"
      className={isLive ? "chip ok" : "chip warn"}
      data-hub={state}
      disabled={isLive}
      title={isLive ? "The hub tells changes as they happen" : "Try again now"}
      onClick={() => events.wake()}
    >
      <span className={isLive ? "dot" : "dot pulse"} />
      {isLive ? "Live" : state === "waiting" ? "Offline" : "Connecting"}
    </button>
  );
}
