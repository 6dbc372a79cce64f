/** What a client was asked and shown of one session, by session: tests of one bridge share its connections. */
import { paramsOf, type RpcId } from "../../src/protocol/envelope.ts";
import { type JsonObject, objectAt } from "../../src/protocol/json.ts";
import type { RawClient } from "./raw-client.ts";
import { Transcript } from "./world/transcript.ts";
import { eventually } from "./zcode-stage.ts";

export interface Question {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

/** Every question about a session, oldest first. */
export function questionsOf(client: RawClient, sessionId: string): Question[] {
  return client.frames.flatMap((frame) => {
    if (frame.kind !== "request") return [];
    const params = paramsOf(frame.msg) ?? {};
    return params["sessionId"] === sessionId ? [{ id: frame.msg.id, method: frame.msg.method, params }] : [];
  });
}

/** Waits for the question number `count` (from 1) about a session. */
export async function questionOf(client: RawClient, sessionId: string, count = 1): Promise<Question> {
  await eventually(`question ${count} of the session`, () => questionsOf(client, sessionId).length >= count);
  const found = questionsOf(client, sessionId)[count - 1];
  if (found === undefined) throw new Error("the question vanished");
  return found;
}

/** True once the client was told that a question is over, in both spellings. */
export const isCancelled = (client: RawClient, id: RpcId): boolean =>
  client.notifications("$/cancel_request").some((params) => params["requestId"] === id && params["id"] === id);

export function updatesOf(client: RawClient, sessionId: string): JsonObject[] {
  return client
    .notifications("session/update")
    .flatMap((params) => (params["sessionId"] === sessionId ? [objectAt(params, "update") ?? {}] : []));
}

export function transcriptOf(client: RawClient, sessionId: string): Transcript {
  const transcript = new Transcript();
  for (const update of updatesOf(client, sessionId)) transcript.apply(update, undefined);
  return transcript;
}

export const selected = (optionId: string): JsonObject => ({ outcome: { outcome: "selected", optionId } });
