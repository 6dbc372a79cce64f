/** Web Push of the device that asks. */
import { z } from "zod";
import { json, nothing, type Operation, problemAnswer } from "./operation.ts";
import * as shapes from "./shapes.ts";

const problem = (words: string) => problemAnswer(shapes.problem, words);

export const PUSH_OPERATIONS: Readonly<Record<string, Operation>> = {
  "GET /api/push/key": {
    summary: "The key for Web Push subscriptions",
    answers: { 200: json(z.object({ publicKey: z.string() }), "The VAPID public key.") },
  },
  "PUT /api/push/subscription": {
    summary: "Have this device notified",
    body: z.object({
      subscription: z.looseObject({
        endpoint: z.string(),
        keys: z.looseObject({ p256dh: z.string(), auth: z.string() }),
      }),
      kinds: z.array(z.enum(["needs-you", "turn-ended"])).optional(),
    }),
    answers: { 204: nothing("It is noted.") },
  },
  "DELETE /api/push/subscription": {
    summary: "Notify this device no more",
    answers: { 204: nothing("It is forgotten.") },
  },
  "GET /api/push/preferences": {
    summary: "When this device wants to be left alone",
    answers: { 200: json(shapes.pushPreferences, "Quiet hours, or null, and muted sessions.") },
  },
  "PATCH /api/push/preferences": {
    summary: "Change when this device is left alone",
    body: z.object({
      quietHours: shapes.quietHours.nullable().optional().describe("null: none. Absent: as it was."),
      mute: z.string().optional().describe("A session this device is told nothing of."),
      unmute: z.string().optional(),
    }),
    answers: { 200: json(shapes.pushPreferences, "What holds now.") },
  },
  "PUT /api/push/seen": {
    summary: "Say which session is on this device's screen",
    description: "What is on a screen is not pushed, but for questions that stay open a minute.",
    body: z.object({ sessionId: z.string().optional().describe("Absent: none.") }),
    answers: { 204: nothing("It is noted.") },
  },
  "POST /api/push/test": {
    summary: "Send this device a notification",
    answers: { 202: json(z.object({}), "It is on its way."), 404: problem("This device has no subscription.") },
  },
  "GET /api/push/deliveries": {
    summary: "How the last notifications of this device went",
    answers: { 200: json(shapes.deliveries, "Newest last.") },
  },
};
