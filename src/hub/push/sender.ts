/** The way to a push service: encrypted for the device (RFC 8291), signed by the hub (RFC 8292). */
import { createHash } from "node:crypto";
import type { PushMessage } from "./pusher.ts";
import type { PushSubscriptionRecord, VapidKeys } from "./subscriptions.ts";

export interface PushAnswer {
  /** HTTP status of the push service. */
  readonly status: number;
  /** Its `Retry-After`, where it gave one. */
  readonly retryAfterMs: number | undefined;
}

/** Sends one push. Rejects when the push service cannot be reached; every answer of its is a result. */
export type SendPush = (record: PushSubscriptionRecord, message: PushMessage) => Promise<PushAnswer>;

const TIMEOUT_MS = 10_000;

/** How long the push service keeps what a device that is off has not fetched. A question waits; an ended turn is old news soon. */
const TTL_SECONDS: Readonly<Record<PushMessage["kind"], number>> = {
  "needs-you": 43_200,
  "turn-ended": 3600,
  test: 60,
};

/** What wakes a phone that saves its battery. */
const URGENCY = { "needs-you": "high", "turn-ended": "normal", test: "high" } as const;

/** `subject`: whom the push service may ask, an address of the hub. */
export function webPushSender(keys: VapidKeys, subject: string): SendPush {
  return async ({ endpoint, keys: recipient }, message) => {
    // Loaded with the first push: most hubs never send one.
    const { default: webPush } = await import("web-push");
    const options = {
      vapidDetails: { subject, ...keys },
      TTL: TTL_SECONDS[message.kind],
      timeout: TIMEOUT_MS,
      urgency: URGENCY[message.kind],
      topic: topicOf(message.tag),
    };
    try {
      const { statusCode } = await webPush.sendNotification(
        { endpoint, keys: recipient },
        JSON.stringify(message),
        options,
      );
      return { status: statusCode, retryAfterMs: undefined };
    } catch (error) {
      if (!(error instanceof webPush.WebPushError)) throw error;
      return { status: error.statusCode, retryAfterMs: retryAfterMs(error.headers) };
    }
  };
}

/** What is not yet delivered under one topic is replaced: 32 characters of the URL alphabet, which a tag need not be. */
export const topicOf = (tag: string): string => createHash("sha256").update(tag).digest("base64url").slice(0, 32);

function retryAfterMs(headers: unknown): number | undefined {
  const value: unknown =
    typeof headers === "object" && headers !== null && "retry-after" in headers ? headers["retry-after"] : undefined;
  if (typeof value !== "string") return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
