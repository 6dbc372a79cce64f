/** What was typed or attached and not sent, per session, on this device. */
import type { ClientStorage } from "../../client/index.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Mention } from "./mentions.ts";

const PREFIX = "draft/";

export interface Draft {
  readonly text: string;
  /** Files that were chosen for it; some may have been deleted from the text since. */
  readonly mentions: readonly Mention[];
  readonly images: readonly JsonObject[];
}

export const EMPTY_DRAFT: Draft = { text: "", mentions: [], images: [] };

export async function readDraft(storage: ClientStorage, sessionId: string): Promise<Draft> {
  const value = await storage.get(PREFIX + sessionId).catch(() => undefined);
  if (typeof value === "string") return { ...EMPTY_DRAFT, text: value };
  // One that was kept by an earlier app has no images.
  return isDraft(value) ? { ...EMPTY_DRAFT, ...value } : EMPTY_DRAFT;
}

export function writeDraft(storage: ClientStorage, sessionId: string, draft: Draft): void {
  const isEmpty = draft.text === "" && draft.images.length === 0;
  const done = isEmpty ? storage.delete(PREFIX + sessionId) : storage.set(PREFIX + sessionId, draft);
  done.catch(() => undefined);
}

function isDraft(value: unknown): value is Draft {
  return (
    typeof value === "object" &&
    value !== null &&
    "text" in value &&
    typeof value.text === "string" &&
    "mentions" in value &&
    Array.isArray(value.mentions)
  );
}
