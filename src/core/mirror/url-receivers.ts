/** Who was sent which url elicitation: they alone are told that it is complete (X12). Bounded: the oldest are forgotten. */
import { type JsonObject, stringAt } from "../../protocol/json.ts";
import type { Connection } from "./connection.ts";

const KEPT_MAX = 256;

export class UrlReceivers<Encoded> {
  readonly #receivers = new Map<string, Set<Connection<Encoded>>>();

  note(params: JsonObject, connection: Connection<Encoded>): void {
    const id = params["mode"] === "url" ? stringAt(params, "elicitationId") : undefined;
    if (id === undefined) return;
    const known = this.#receivers.get(id) ?? new Set();
    this.#receivers.set(id, known.add(connection));
    if (this.#receivers.size <= KEPT_MAX) return;
    const [oldest] = this.#receivers.keys();
    if (oldest !== undefined) this.#receivers.delete(oldest);
  }

  /** Undefined when it is not known: then everyone may hear of it, and ignores what they never saw. */
  of(params: JsonObject | undefined): ReadonlySet<Connection<Encoded>> | undefined {
    const id = stringAt(params, "elicitationId");
    return id === undefined ? undefined : this.#receivers.get(id);
  }

  forget(connection: Connection<Encoded>): void {
    for (const receivers of this.#receivers.values()) receivers.delete(connection);
  }
}
