/** What was typed and not sent, per session, on this device. */
import type { ClientStorage } from "../../client/index.ts";

const PREFIX = "draft/";

export async function readDraft(storage: ClientStorage, sessionId: string): Promise<string> {
  const value = await storage.get(PREFIX + sessionId).catch(() => undefined);
  return typeof value === "string" ? value : "";
}

export function writeDraft(storage: ClientStorage, sessionId: string, text: string): void {
  const done = text === "" ? storage.delete(PREFIX + sessionId) : storage.set(PREFIX + sessionId, text);
  done.catch(() => undefined);
}
