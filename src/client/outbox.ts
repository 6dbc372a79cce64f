/**
 * Prompts on their way, kept on the device until their end is known.
 *
 * O1 A prompt keeps its id through every retry; the hub runs an id once (P3), so sending again is always safe.
 * O2 Nothing leaves the list by itself but what ended; a failure stays as a row with its reason.
 * O3 Marks only go forward on evidence: the hub's turn notice or its answer, never the mere act of sending.
 */

import { RPC } from "../protocol/errors.ts";
import type { TurnNotice } from "../protocol/hub-methods.ts";
import { isObject, type Json, type JsonObject, stringAt } from "../protocol/json.ts";
import { Observable } from "./emitter.ts";
import { CallError, ClientError, isLinkFailure } from "./errors.ts";
import type { ClientStorage, Clock } from "./ports.ts";

/** `phone`: on this device only, as far as we know. `hub`: it waits there. `started`: the agent works on it. */
export type Delivery = "phone" | "hub" | "started" | "done" | "failed";

export interface OutboxFailure {
  readonly message: string;
  readonly hubCode: string | undefined;
  /** False when the same id cannot be run again (outcome unknown): only a person may send it anew. */
  readonly canRetry: boolean;
}

export interface OutboxEntry {
  readonly promptId: string;
  readonly sessionId: string;
  readonly blocks: readonly JsonObject[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly delivery: Delivery;
  readonly stopReason: string | undefined;
  readonly failure: OutboxFailure | undefined;
}

export const OUTBOX_MAX = 64;

/** Ended entries kept for their marks. */
const DONE_MAX = 50;

const PREFIX = "outbox/";

/** `isPreempting`: the running turn is to end for it. */
export type PromptSender = (entry: OutboxEntry, isPreempting: boolean) => Promise<Json>;

export class Outbox {
  readonly entries: Observable<readonly OutboxEntry[]> = new Observable<readonly OutboxEntry[]>([]);
  readonly #storage: ClientStorage;
  readonly #clock: Clock;
  readonly #send: PromptSender;
  readonly #inFlight = new Set<string>();

  constructor(storage: ClientStorage, clock: Clock, send: PromptSender) {
    this.#storage = storage;
    this.#clock = clock;
    this.#send = send;
  }

  /** Reads what an earlier run of the page left. */
  async restore(): Promise<void> {
    const keys = await this.#storage.keys(PREFIX);
    const found = await Promise.all(keys.map((key) => this.#storage.get(key)));
    const known = new Set(this.entries.value.map((entry) => entry.promptId));
    const entries = found.filter(isEntry).filter((entry) => !known.has(entry.promptId));
    this.entries.set([...entries, ...this.entries.value].sort((a, b) => a.createdAt - b.createdAt));
  }

  /** Keeps a prompt; `flush` sends it. Fails with `outbox-full` rather than dropping one. */
  add(promptId: string, sessionId: string, blocks: readonly JsonObject[]): OutboxEntry {
    const waiting = this.entries.value.filter((entry) => entry.delivery !== "done");
    if (waiting.length >= OUTBOX_MAX)
      throw new ClientError("outbox-full", "Too many messages are waiting on this device");
    const createdAt = this.#clock.now();
    const state = { delivery: "phone", stopReason: undefined, failure: undefined } as const;
    const entry: OutboxEntry = { promptId, sessionId, blocks, createdAt, ...state };
    this.entries.set([...this.entries.value, entry]);
    this.#store(entry);
    return entry;
  }

  /** Sends what has not ended and is not on the way, oldest first; of the sessions `canSend` says. */
  flush(canSend: (sessionId: string) => boolean): void {
    for (const entry of this.entries.value) {
      const isOver = entry.delivery === "done" || entry.delivery === "failed";
      if (isOver || this.#inFlight.has(entry.promptId) || !canSend(entry.sessionId)) continue;
      this.#inFlight.add(entry.promptId);
      void this.#deliver(entry);
    }
  }

  /**
   * Sends a prompt that waits at the hub once more, under its own id, to go first at once (P1). Both sendings have one end.
   * A wish of the moment: after a lost link the prompt waits as before.
   */
  preempt(promptId: string): void {
    const entry = this.get(promptId);
    if (entry?.delivery === "hub") void this.#deliver(entry, true);
  }

  /** Makes a failed prompt ready to go again under its own id; `flush` sends it. */
  retry(promptId: string): void {
    this.#change(promptId, (entry) =>
      entry.delivery === "failed" ? { ...entry, delivery: "phone", failure: undefined } : entry,
    );
  }

  /** Takes a prompt off the device. What the hub already has is not recalled by this. */
  remove(promptId: string): void {
    this.entries.set(this.entries.value.filter((entry) => entry.promptId !== promptId));
    void this.#storage.delete(PREFIX + promptId);
  }

  get(promptId: string): OutboxEntry | undefined {
    return this.entries.value.find((entry) => entry.promptId === promptId);
  }

  /** Moves the marks on what a turn notice proves. */
  noticed(notice: TurnNotice): void {
    for (const queued of notice.queue) if (queued.promptId !== undefined) this.#advance(queued.promptId, "hub");
    if (notice.promptId === undefined) return;
    if (notice.stopReason !== undefined) this.#finish(notice.promptId, notice.stopReason);
    else if (notice.error !== undefined)
      this.#fail(notice.promptId, { ...unknownFailure, message: notice.error.message });
    else if (notice.state !== "idle") this.#advance(notice.promptId, "started");
  }

  async #deliver(entry: OutboxEntry, isPreempting = false): Promise<void> {
    try {
      const answer = await this.#send(entry, isPreempting);
      this.#finish(entry.promptId, (isObject(answer) ? stringAt(answer, "stopReason") : undefined) ?? "end_turn");
    } catch (error) {
      this.#refused(entry.promptId, error);
    } finally {
      this.#inFlight.delete(entry.promptId);
    }
  }

  #refused(promptId: string, error: unknown): void {
    if (isLinkFailure(error)) return;
    if (error instanceof CallError && error.code === RPC.requestCancelled) {
      this.remove(promptId);
      return;
    }
    const hubCode = error instanceof CallError ? error.hubCode : undefined;
    const message = error instanceof Error ? error.message : "The hub refused the message";
    this.#fail(promptId, { message, hubCode, canRetry: hubCode !== "outcome-unknown" });
  }

  #advance(promptId: string, delivery: Delivery): void {
    this.#change(promptId, (entry) =>
      RANK[entry.delivery] < RANK[delivery] ? { ...entry, delivery, failure: undefined } : entry,
    );
  }

  #finish(promptId: string, stopReason: string): void {
    this.#change(promptId, (entry) => ({ ...entry, delivery: "done", stopReason, failure: undefined }));
    this.#trim();
  }

  #fail(promptId: string, failure: OutboxFailure): void {
    this.#change(promptId, (entry) => (entry.delivery === "done" ? entry : { ...entry, delivery: "failed", failure }));
  }

  #change(promptId: string, change: (entry: OutboxEntry) => OutboxEntry): void {
    const before = this.get(promptId);
    if (before === undefined) return;
    const after = change(before);
    if (after === before) return;
    this.entries.set(this.entries.value.map((entry) => (entry === before ? after : entry)));
    this.#store(after);
  }

  #trim(): void {
    const done = this.entries.value.filter((entry) => entry.delivery === "done");
    const old = new Set(done.slice(0, Math.max(0, done.length - DONE_MAX)));
    if (old.size > 0) this.entries.set(this.entries.value.filter((entry) => !old.has(entry)));
  }

  #store(entry: OutboxEntry): void {
    const key = PREFIX + entry.promptId;
    // A full disk must not stop the prompt: it is still in memory and on its way.
    const done = entry.delivery === "done" ? this.#storage.delete(key) : this.#storage.set(key, entry);
    done.catch(() => undefined);
  }
}

const RANK: Readonly<Record<Delivery, number>> = { phone: 0, failed: 0, hub: 1, started: 2, done: 3 };

const unknownFailure = { hubCode: undefined, canRetry: true } as const;

function isEntry(value: unknown): value is OutboxEntry {
  return isObject(value) && typeof value["promptId"] === "string" && Array.isArray(value["blocks"]);
}
