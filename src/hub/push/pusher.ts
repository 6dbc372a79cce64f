/**
 * Tells devices what needs them, by Web Push, as each wants it (preferences). The text says that something waits and where, not
 * what: lock screens are read by others. A push service that is busy is asked again, a few times and only while the news is news.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Hush, hushOf, type PushKind } from "../../protocol/push-preferences.ts";
import type { HubLog } from "../log.ts";
import type { PreferenceStore } from "./preferences.ts";
import type { PushAnswer, SendPush } from "./sender.ts";
import type { PushSubscriptionRecord, Subscriptions } from "./subscriptions.ts";

export interface PushMessage {
  readonly kind: PushKind | "test";
  readonly title: string;
  readonly body: string;
  /** Pushes of one tag replace each other. */
  readonly tag: string;
  /** What a tap opens in the app. */
  readonly url: string;
}

/** What a message is about: decides who wants it, and whether it is still worth telling. */
export interface PushSubject {
  readonly kind: PushKind;
  readonly sessionId: string | undefined;
  /** False for a device that may not know of it. */
  isFor(deviceId: string): boolean;
  /** False once nobody needs to be told any more. */
  isDue(): boolean;
}

type Retry = Pick<PushSubject, "isDue" | "isFor">;

export interface Delivery {
  readonly at: number;
  readonly deviceId: string;
  readonly kind: string;
  /** HTTP status of the push service; absent when it could not be reached or was not asked. */
  readonly status?: number;
  /** Not sent, because the device wants to be left alone. */
  readonly hushed?: Hush;
}

export interface PusherOptions {
  readonly subscriptions: Pick<Subscriptions, "list" | "remove">;
  readonly preferences: Pick<PreferenceStore, "of">;
  readonly send: SendPush;
  readonly log: HubLog;
  readonly now?: () => number;
  /** Resolves after `ms`; rejects when `signal` is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const DELIVERIES_MAX = 200;

/** Pauses before a push is tried again; after the last it is given up. */
const PAUSES_MS = [2000, 10_000, 45_000] as const;
/** A push service that wants more patience than this is not waited for. */
const PAUSE_MAX_MS = 300_000;
/** Pushes that wait for another try, of all devices; more are given up at once. */
const WAITING_MAX = 256;

export class Pusher {
  readonly #options: PusherOptions;
  readonly #deliveries: Delivery[] = [];
  readonly #stopped = new AbortController();
  #waitingCount = 0;

  constructor(options: PusherOptions) {
    this.#options = options;
  }

  /** To every device that wants this kind, of this session, at this hour. Never rejects. */
  async tell(message: PushMessage, subject: PushSubject): Promise<void> {
    const { kind, sessionId, isFor } = subject;
    const wanting = this.#options.subscriptions
      .list()
      .filter((each) => each.kinds.includes(kind) && isFor(each.deviceId));
    await Promise.all(
      wanting.map((record) => {
        const hushed = hushOf(this.#options.preferences.of(record.deviceId), kind, sessionId, this.#now());
        if (hushed === undefined) return this.#deliver(record, message, subject);
        this.#note({ at: this.#now(), deviceId: record.deviceId, kind, hushed });
        return undefined;
      }),
    );
  }

  /** A test to one device, the same way but once. False when it has no subscription. */
  async test(deviceId: string): Promise<boolean> {
    const record = this.#options.subscriptions.list().find((each) => each.deviceId === deviceId);
    if (record === undefined) return false;
    const message = {
      kind: "test",
      title: "acp-hub",
      body: "Pushes reach this device",
      tag: "test",
      url: "#/",
    } as const;
    await this.#deliver(record, message, { isDue: () => false, isFor: () => true });
    return true;
  }

  /** The last ones to a device, newest first. */
  deliveries(deviceId: string): readonly Delivery[] {
    return this.#deliveries.filter((each) => each.deviceId === deviceId).reverse();
  }

  /** Gives up what waits for another try. */
  stop(): void {
    this.#stopped.abort();
  }

  async #deliver(record: PushSubscriptionRecord, message: PushMessage, { isDue, isFor }: Retry): Promise<void> {
    for (const pause of [...PAUSES_MS, undefined]) {
      const answer = await this.#try(record, message);
      if (answer?.status === 404 || answer?.status === 410) return this.#forget(record);
      if (pause === undefined || !isPassing(answer)) return;
      const hasTime = await this.#pause(Math.max(pause, answer?.retryAfterMs ?? 0));
      if (!hasTime || !isDue() || !isFor(record.deviceId) || !this.#isCurrent(record)) return;
    }
  }

  /** One try. Undefined when the push service could not be reached. */
  async #try(record: PushSubscriptionRecord, message: PushMessage): Promise<PushAnswer | undefined> {
    const { deviceId } = record;
    const answer = await this.#options.send(record, message).catch(() => undefined);
    const status = answer?.status;
    this.#note({ at: this.#now(), deviceId, kind: message.kind, ...(status !== undefined && { status }) });
    if (status === undefined || status >= 300) this.#options.log.info({ deviceId, status }, "push not delivered");
    return answer;
  }

  /** False when there is no other try: too long, too many, or the hub ends. */
  async #pause(ms: number): Promise<boolean> {
    if (ms > PAUSE_MAX_MS || this.#waitingCount >= WAITING_MAX) return false;
    this.#waitingCount += 1;
    try {
      await (this.#options.wait ?? waitUnheld)(ms, this.#stopped.signal);
      return true;
    } catch {
      return false;
    } finally {
      this.#waitingCount -= 1;
    }
  }

  /** The push service says that nobody is there any more; a newer subscription of the device is another. */
  async #forget(record: PushSubscriptionRecord): Promise<void> {
    if (!this.#isCurrent(record)) return;
    await this.#options.subscriptions
      .remove(record.deviceId)
      .catch((error: unknown) => this.#options.log.error({ err: error }, "push subscription not removed"));
  }

  #isCurrent(record: PushSubscriptionRecord): boolean {
    return this.#options.subscriptions.list().some((each) => each.endpoint === record.endpoint);
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  #note(delivery: Delivery): void {
    this.#deliveries.push(delivery);
    if (this.#deliveries.length > DELIVERIES_MAX) this.#deliveries.shift();
  }
}

/** Busy, broken or out of reach for now: worth another try. */
const isPassing = (answer: PushAnswer | undefined): boolean =>
  answer === undefined || answer.status === 429 || answer.status >= 500;

/** Keeps no process alive. */
const waitUnheld = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal, ref: false });
