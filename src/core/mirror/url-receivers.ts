/**
 * Which devices were sent which url elicitation: they alone are told that it is complete (X12), on whatever connection they are by
 * then (a phone that opens a page lets its socket go). Bounded: the oldest are forgotten.
 */
import { type JsonObject, stringAt } from "../../protocol/json.ts";

const KEPT_MAX = 256;

export class UrlReceivers {
  readonly #receivers = new Map<string, Set<string>>();

  note(params: JsonObject, device: string): void {
    const id = params["mode"] === "url" ? stringAt(params, "elicitationId") : undefined;
    if (id === undefined) return;
    const known = this.#receivers.get(id) ?? new Set();
    this.#receivers.set(id, known.add(device));
    if (this.#receivers.size <= KEPT_MAX) return;
    const [oldest] = this.#receivers.keys();
    if (oldest !== undefined) this.#receivers.delete(oldest);
  }

  /** Undefined when it is not known: then everyone may hear of it, and ignores what they never saw. */
  of(params: JsonObject | undefined): ReadonlySet<string> | undefined {
    const id = stringAt(params, "elicitationId");
    return id === undefined ? undefined : this.#receivers.get(id);
  }
}
