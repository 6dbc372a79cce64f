/** A list of things that are given, missing or still open, with what to do about each. */
import type { ReactElement } from "react";
import type { Check, CheckState } from "../notifications/push.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon-paths.ts";

const ICONS: Readonly<Record<CheckState, IconName>> = { ok: "check", bad: "close", open: "clock" };
const WORDS: Readonly<Record<CheckState, string>> = { ok: "yes", bad: "no", open: "not yet" };

export function CheckList({ checks }: { readonly checks: readonly Check[] }): ReactElement {
  return (
    <ul className="plain card-list checks">
      {checks.map((check) => (
        <li key={check.name} data-check={check.state}>
          <span className={`check ${check.state}`}>
            <Icon name={ICONS[check.state]} />
          </span>
          <span className="session-row-main">
            <span>
              {check.name}
              <span className="hidden-text">: {WORDS[check.state]}</span>
            </span>
            {check.help !== undefined && <span className="session-row-place">{check.help}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
