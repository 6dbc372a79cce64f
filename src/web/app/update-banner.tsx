/** A newer app is there: the person chooses when. */
import { type ReactElement, useState } from "react";
import { updateReady } from "../platform/service-worker.ts";
import { IconButton } from "../ui/icon-button.tsx";
import { useObservable } from "./hooks.ts";

export function UpdateBanner(): ReactElement | null {
  const waiting = useObservable(updateReady);
  const [isSnoozed, setSnoozed] = useState(false);
  if (waiting === undefined || isSnoozed) return null;
  return (
    <div className="update-banner" role="status">
      <span>A new version is ready.</span>
      <button type="button" className="button small primary" onClick={() => waiting.postMessage("take-over")}>
        Reload
      </button>
      <IconButton icon="close" label="Later" onClick={() => setSnoozed(true)} />
    </div>
  );
}
