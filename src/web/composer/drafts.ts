/** What was typed and not sent, per session, on this device. */
import type { ClientStorage } from "../../client/index.ts";
import type { Mention } from "./mentions.ts";

const PREFIX = "draft/";

export interface Draft {
  readonly text: string;
  /** Files that were chosen for it; some may have been deleted from the text since. */
  readonly mentions: readonly Mention[];
}

export const EMPTY_DRAFT: Draft = { text: "", mentions: [] };

export async function readDraft(storage: ClientStorage, sessionId: string): Promise<Draft> {
  const value = await storage.get(PREFIX + sessionId).catch(() => undefined);
  if (typeof value === "string") return { text: value, mentions: [] };
  return isDraft(value) ? value : EMPTY_DRAFT;
}

export function writeDraft(storage: ClientStorage, sessionId: string, draft: Draft): void {
  const done = draft.text === "" ? storage.delete(PREFIX + sessionId) : storage.set(PREFIX + sessionId, draft);
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
