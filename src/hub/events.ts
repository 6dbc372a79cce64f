/** Changes of instances, sessions and interactions, so that nobody polls (contract §3 `GET /api/events`). */
import { randomBytes } from "node:crypto";
import { eventId } from "../protocol/event-position.ts";

export type HubEvent =
  | { readonly kind: "instance-added" | "instance-changed" | "instance-removed"; readonly instanceId: string }
  | { readonly kind: "sessions-changed"; readonly instanceId: string }
  | { readonly kind: "interactions-changed"; readonly instanceId: string }
  | { readonly kind: "devices-changed" };

export interface NumberedEvent {
  readonly id: number;
  readonly event: HubEvent;
}

/** Kept for `Last-Event-ID`; older ones are answered with one `reset`. */
const KEPT = 1024;

export class HubEvents {
  /** Tells streams of different hub processes apart: ids start over with each. */
  readonly epoch: string = randomBytes(6).toString("base64url");
  readonly #listeners = new Set<(numbered: NumberedEvent) => void>();
  readonly #kept: NumberedEvent[] = [];
  #next = 1;
  /** Changes of one tick are told once per kind and instance. */
  readonly #due = new Map<string, HubEvent>();

  emit(event: HubEvent): void {
    const key = "instanceId" in event ? `${event.kind}:${event.instanceId}` : event.kind;
    if (this.#due.size === 0) setImmediate(() => this.#flush());
    this.#due.set(key, event);
  }

  /** Events after `lastId`; undefined when some of them are no longer kept. */
  since(lastId: number): readonly NumberedEvent[] | undefined {
    const oldest = this.#kept[0]?.id ?? this.#next;
    if (lastId + 1 < oldest || lastId >= this.#next) return undefined;
    return this.#kept.filter((numbered) => numbered.id > lastId);
  }

  get lastId(): number {
    return this.#next - 1;
  }

  /** The last event told, as its id stands in the stream: what is read now has it in, and perhaps more. */
  get position(): string {
    return eventId(this.epoch, this.lastId);
  }

  listen(listener: (numbered: NumberedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #flush(): void {
    const due = [...this.#due.values()];
    this.#due.clear();
    for (const event of due) {
      const numbered = { id: this.#next, event };
      this.#next += 1;
      this.#kept.push(numbered);
      if (this.#kept.length > KEPT) this.#kept.shift();
      for (const listener of this.#listeners) listener(numbered);
    }
  }
}
