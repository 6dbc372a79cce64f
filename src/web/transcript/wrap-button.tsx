/** Long lines of output and diffs: wrapped, or scrolled sideways. One setting for all of them. */
import type { ReactElement } from "react";
import { useObservable, useServices } from "../app/hooks.ts";

export function WrapButton(): ReactElement {
  const { settings } = useServices();
  const { wrapLines } = useObservable(settings.settings);
  return (
    <button
      type="button"
      className="copy-button"
      aria-pressed={wrapLines}
      onClick={() => settings.change({ wrapLines: !wrapLines })}
    >
      Wrap
    </button>
  );
}
