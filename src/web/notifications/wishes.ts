/** When this device wants to be left alone, as the hub keeps it. */
import { ApiError, Observable, type PreferenceChange, type PushApi } from "../../client/index.ts";
import type { PushPreferences } from "../../protocol/push-preferences.ts";

/** The clock this device goes by. */
export const ownTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export class PushWishes {
  /** Undefined until the hub has told, and for a hub that does not know of them. */
  readonly wishes: Observable<PushPreferences | undefined> = new Observable<PushPreferences | undefined>(undefined);
  /** The hub has told, or did not when it was asked. */
  readonly heard: Promise<void>;
  readonly #api: PushApi;
  #onHeard: () => void = () => undefined;
  #sequence = 0;

  constructor(api: PushApi) {
    this.#api = api;
    this.heard = new Promise((resolve) => {
      this.#onHeard = resolve;
    });
  }

  /** Never throws: without an answer everything is told. */
  async load(): Promise<void> {
    try {
      const wishes = await this.#api.preferences();
      this.wishes.set(wishes);
      const { quietHours } = wishes;
      // The device has travelled: its nights are elsewhere now.
      if (quietHours !== undefined && quietHours.timeZone !== ownTimeZone())
        await this.change({ quietHours: { ...quietHours, timeZone: ownTimeZone() } });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    } finally {
      this.#onHeard();
    }
  }

  /** Shows the change at once. Fails with `ApiError`; then it is as it was. */
  async change(change: PreferenceChange): Promise<void> {
    const before = this.wishes.value;
    const sequence = ++this.#sequence;
    if (before !== undefined) this.wishes.set(changed(before, change));
    try {
      const now = await this.#api.changePreferences(change);
      // An older answer never overwrites a newer choice.
      if (sequence === this.#sequence) this.wishes.set(now);
    } catch (error) {
      if (sequence === this.#sequence) this.wishes.set(before);
      throw error;
    }
  }
}

function changed(before: PushPreferences, { quietHours, mute, unmute }: PreferenceChange): PushPreferences {
  const others = before.mutedSessions.filter((id) => id !== mute && id !== unmute);
  return {
    quietHours: quietHours === undefined ? before.quietHours : (quietHours ?? undefined),
    mutedSessions: mute === undefined ? others : [...others, mute],
  };
}
