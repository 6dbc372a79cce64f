/** How the app looks on this device, and the way to the rest. */
import type { ReactElement } from "react";
import { VERSION } from "../../protocol/version.ts";
import { Icon } from "../ui/icon.tsx";
import { Page } from "../ui/page.tsx";
import { useObservable, useServices } from "./hooks.ts";
import type { Settings } from "./settings.ts";

const THEMES: readonly { readonly value: Settings["theme"]; readonly title: string }[] = [
  { value: "system", title: "As the system" },
  { value: "light", title: "Light" },
  { value: "dark", title: "Dark" },
];

export function SettingsScreen(): ReactElement {
  const { settings } = useServices();
  const { theme, showThoughts, wrapLines } = useObservable(settings.settings);
  return (
    <Page title="Settings">
      <fieldset className="field">
        <legend className="field-label">Appearance</legend>
        <div className="choices">
          {THEMES.map(({ value, title }) => (
            <label className="choice" key={value}>
              <input
                type="radio"
                name="theme"
                checked={theme === value}
                onChange={() => settings.change({ theme: value })}
              />
              <span>{title}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <fieldset className="field">
        <legend className="field-label">Transcript</legend>
        <div className="choices">
          <label className="choice">
            <input
              type="checkbox"
              checked={showThoughts}
              onChange={(event) => settings.change({ showThoughts: event.target.checked })}
            />
            <span>Show thoughts unfolded</span>
          </label>
          <label className="choice">
            <input
              type="checkbox"
              checked={wrapLines}
              onChange={(event) => settings.change({ wrapLines: event.target.checked })}
            />
            <span>Wrap long lines of output</span>
          </label>
        </div>
      </fieldset>
      <ul className="plain menu">
        <li>
          <a href="#/notifications">
            <Icon name="bell" /> Notifications
          </a>
        </li>
        <li>
          <a href="#/devices">
            <Icon name="devices" /> Devices
          </a>
        </li>
        <li>
          <a href="#/diagnostics">
            <Icon name="pulse" /> Diagnostics
          </a>
        </li>
      </ul>
      <p className="muted">acp-hub {VERSION}</p>
    </Page>
  );
}
