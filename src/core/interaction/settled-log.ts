/** How the last interactions ended, oldest first: for answers that come late, verdicts that come twice, and a new link (R4). Bounded. */
import type { SettledNotice } from "../../protocol/hub-methods.ts";
import { type InteractionId, interactionId } from "../../protocol/ids.ts";

/** Verdicts kept. */
export const SETTLED_KEPT = 256;

export class SettledLog {
  readonly #notices = new Map<InteractionId, SettledNotice>();

  get all(): readonly SettledNotice[] {
    return [...this.#notices.values()];
  }

  get(id: InteractionId): SettledNotice | undefined {
    return this.#notices.get(id);
  }

  /** False when it is known already. */
  add(notice: SettledNotice): boolean {
    const id = interactionId(notice.interactionId);
    if (this.#notices.has(id)) return false;
    this.#notices.set(id, notice);
    if (this.#notices.size > SETTLED_KEPT) {
      const [oldest] = this.#notices.keys();
      if (oldest !== undefined) this.#notices.delete(oldest);
    }
    return true;
  }
}
