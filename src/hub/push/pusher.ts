/**
 * Tells devices what needs them, by Web Push: live transitions only, never replays, and only when nobody looks at that session
 * (users' complaints 19, 34, 36). The text says that something waits and where, not what: lock screens are read by others.
 */
import webPush from "web-push";
import type { HubLog } from "../log.ts";
import type { PushKind, PushSubscriptionRecord, Subscriptions, VapidKeys } from "./subscriptions.ts";

export interface PushMessage {
  readonly kind: PushKind | "test";
  readonly title: string;
  readonly body: string;
  /** Pushes of one tag replace each other. */
  readonly tag: string;
  /** What a tap opens in the app. */
  readonly url: string;
}

export interface Delivery {
  readonly at: number;
  readonly deviceId: string;
  readonly kind: string;
  /** HTTP status of the push service; absent when it could not be reached. */
  readonly status?: number;
}

/** Sends one push; resolves to the push service's status. */
export type SendPush = (record: PushSubscriptionRecord, payload: string) => Promise<number>;

const DELIVERIES_MAX = 200;
const TTL_SECONDS = 3600;
const TIMEOUT_MS = 10_000;

/** The real pipeline. `subject`: whom the push service may ask, an address of the hub. */
export function webPushSender(keys: VapidKeys, subject: string): SendPush {
  return async ({ endpoint, keys: recipient }, payload) => {
    const options = {
      vapidDetails: { subject, ...keys },
      TTL: TTL_SECONDS,
      timeout: TIMEOUT_MS,
      urgency: "high",
    } as const;
    const { statusCode } = await webPush.sendNotification({ endpoint, keys: recipient }, payload, options);
    return statusCode;
  };
}

export class Pusher {
  readonly #subscriptions: Subscriptions;
  readonly #send: SendPush;
  readonly #log: HubLog;
  readonly #deliveries: Delivery[] = [];

  constructor(subscriptions: Subscriptions, send: SendPush, log: HubLog) {
    this.#subscriptions = subscriptions;
    this.#send = send;
    this.#log = log;
  }

  /** To every device that wants this kind and that `isFor` lets know. */
  async tell(message: PushMessage, isFor: (deviceId: string) => boolean = () => true): Promise<void> {
    const wanting = this.#subscriptions
      .list()
      .filter((each) => message.kind !== "test" && each.kinds.includes(message.kind) && isFor(each.deviceId));
    await Promise.all(wanting.map((record) => this.#deliver(record, message)));
  }

  /** A test to one device, the same way. False when it has no subscription. */
  async test(deviceId: string): Promise<boolean> {
    const record = this.#subscriptions.list().find((each) => each.deviceId === deviceId);
    if (record === undefined) return false;
    await this.#deliver(record, {
      kind: "test",
      title: "acp-hub",
      body: "Pushes reach this device",
      tag: "test",
      url: "#/",
    });
    return true;
  }

  /** The last ones to a device, newest first. */
  deliveries(deviceId: string): readonly Delivery[] {
    return this.#deliveries.filter((each) => each.deviceId === deviceId).reverse();
  }

  async #deliver(record: PushSubscriptionRecord, message: PushMessage): Promise<void> {
    const { deviceId } = record;
    try {
      const status = await this.#send(record, JSON.stringify(message));
      this.#note({ at: Date.now(), deviceId, kind: message.kind, status });
    } catch (error) {
      const status = statusOf(error);
      this.#note({ at: Date.now(), deviceId, kind: message.kind, ...(status !== undefined && { status }) });
      this.#log.info({ deviceId, status }, "push not delivered");
      // The push service says that nobody is there any more.
      if (status === 404 || status === 410) await this.#subscriptions.remove(deviceId);
    }
  }

  #note(delivery: Delivery): void {
    this.#deliveries.push(delivery);
    if (this.#deliveries.length > DELIVERIES_MAX) this.#deliveries.shift();
  }
}

function statusOf(error: unknown): number | undefined {
  const status = typeof error === "object" && error !== null && "statusCode" in error ? error.statusCode : undefined;
  return typeof status === "number" ? status : undefined;
}
