/** What a person set on this device. */
import { Observable } from "../../client/index.ts";

export interface Settings {
  readonly theme: "system" | "light" | "dark";
  readonly wrapLines: boolean;
  readonly showThoughts: boolean;
}

const NAME = "acp-hub-settings";
const DEFAULTS: Settings = { theme: "system", wrapLines: true, showThoughts: false };

export class SettingsStore {
  readonly settings: Observable<Settings>;

  constructor() {
    this.settings = new Observable(read());
    this.#apply();
  }

  change(change: Partial<Settings>): void {
    this.settings.set({ ...this.settings.value, ...change });
    this.#apply();
    try {
      localStorage.setItem(NAME, JSON.stringify(this.settings.value));
    } catch {
      // Private windows may refuse: the choice holds for this page.
    }
  }

  #apply(): void {
    const { theme } = this.settings.value;
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
  }
}

function read(): Settings {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    return { ...DEFAULTS, ...(typeof value === "object" ? value : {}) };
  } catch {
    return DEFAULTS;
  }
}
