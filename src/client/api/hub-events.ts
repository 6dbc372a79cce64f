/**
 * `GET /api/events`, kept open: what changed at the hub, so that nobody polls. Reads the stream itself rather than with
 * EventSource, which can neither send headers nor take a fresh one-use ticket when it dials again.
 */
import { isObject, type JsonObject } from "../../protocol/json.ts";
import { backoffMs } from "../backoff.ts";
import { Emitter, Observable } from "../emitter.ts";
import type { Clock } from "../ports.ts";
import { EventStreamParser } from "./event-stream.ts";
import { ApiError, send } from "./http.ts";
import type { HubApi } from "./hub-api.ts";

export interface HubEvent {
  /** `instance`, `session`, `interaction` and what else the hub tells. */
  readonly name: string;
  /** Its place in the stream, where it has one. */
  readonly id: string | undefined;
  readonly data: JsonObject;
}

export type EventsState = "idle" | "connecting" | "open" | "waiting" | "unauthorized";

/** Without a byte for this long the stream is dead: the hub sends a comment at least every 30 s. */
const SILENT_MS = 75_000;

export class HubEvents {
  readonly state: Observable<EventsState> = new Observable<EventsState>("idle");
  readonly events: Emitter<HubEvent> = new Emitter<HubEvent>();
  readonly #api: HubApi;
  readonly #clock: Clock;
  readonly #hasTickets: boolean;
  #lastId: string | undefined;
  #abort: AbortController | undefined;
  #cancelRetry: (() => void) | undefined;
  #attempt = 0;

  /** `hasTickets`: the stream is opened with a ticket in its address (the app); otherwise by the credential's headers. */
  constructor(api: HubApi, clock: Clock, hasTickets: boolean) {
    this.#api = api;
    this.#clock = clock;
    this.#hasTickets = hasTickets;
  }

  start(): void {
    if (this.state.value === "connecting" || this.state.value === "open") return;
    this.#cancelRetry?.();
    const abort = new AbortController();
    this.#abort = abort;
    this.state.set("connecting");
    void this.#run(abort);
  }

  stop(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#abort?.abort();
    this.#abort = undefined;
    this.state.set("idle");
  }

  /** The page is seen again or the network is back. */
  wake(): void {
    if (this.state.value !== "waiting") return;
    this.#attempt = 0;
    this.start();
  }

  async #run(abort: AbortController): Promise<void> {
    try {
      await this.#read(abort);
      if (!abort.signal.aborted) this.#retry();
    } catch (error) {
      if (abort.signal.aborted && this.#abort !== abort) return;
      if (error instanceof ApiError && error.status === 401) this.state.set("unauthorized");
      else this.#retry();
    }
  }

  async #read(abort: AbortController): Promise<void> {
    const { signal } = abort;
    const ticket = this.#hasTickets ? `?ticket=${encodeURIComponent(await this.#api.ticket(signal))}` : "";
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.#lastId !== undefined) headers["Last-Event-ID"] = this.#lastId;
    const response = await send(this.#api.http, `api/events${ticket}`, { headers, signal });
    if (response.body === null || signal.aborted) return;
    this.#attempt = 0;
    this.state.set("open");
    await this.#pump(response.body.getReader(), abort);
  }

  async #pump(reader: ReadableStreamDefaultReader<Uint8Array>, abort: AbortController): Promise<void> {
    const decoder = new TextDecoder();
    const parser = new EventStreamParser();
    for (;;) {
      const cancelWatch = this.#clock.after(SILENT_MS, () => abort.abort());
      const chunk = await reader.read().finally(cancelWatch);
      if (chunk.done) return;
      for (const event of parser.feed(decoder.decode(chunk.value, { stream: true }))) {
        if (event.id !== undefined) this.#lastId = event.id;
        this.events.emit({ name: event.name, id: event.id, data: parse(event.data) });
      }
    }
  }

  #retry(): void {
    this.state.set("waiting");
    const wait = backoffMs(this.#attempt, this.#clock.random());
    this.#attempt += 1;
    this.#cancelRetry = this.#clock.after(wait, () => this.start());
  }
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
