/** The two ways to say no to a question of the agent's: declining it, and closing it. They are different answers. */
import type { ReactElement } from "react";
import { cancelForm, declineForm } from "../../client/index.ts";
import type { Json } from "../../protocol/json.ts";
import type { TapGuard } from "./tap-guard.ts";

export interface RefusalButtonsProps {
  readonly guard: TapGuard;
  readonly isBusy: boolean;
  readonly onAnswer: (result: Json) => void;
}

export function RefusalButtons({ guard, isBusy, onAnswer }: RefusalButtonsProps): ReactElement {
  return (
    <>
      <button
        type="button"
        className="button option danger"
        disabled={isBusy}
        aria-disabled={!guard.isOpen}
        onClick={(event) => guard.allows(event) && onAnswer(declineForm())}
      >
        Decline
      </button>
      <button
        type="button"
        className="button option quiet"
        disabled={isBusy}
        aria-disabled={!guard.isOpen}
        onClick={(event) => guard.allows(event) && onAnswer(cancelForm())}
      >
        Dismiss
      </button>
    </>
  );
}
