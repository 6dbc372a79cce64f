/** The texts of files that go along with a message, for agents that take them. What cannot be had goes as a link. */
import type { HubApi } from "../../client/index.ts";
import type { Mention, MentionTexts } from "./mentions.ts";

/** A file that is longer is looked up by the agent itself. */
const CHARS_MAX = 64 * 1024;
const FILES_MAX = 8;

/** Nobody waits longer for a message to go. */
const PATIENCE_MS = 2500;

/** Never rejects. */
export async function fileTexts(
  api: HubApi,
  instanceId: string,
  sessionId: string,
  mentions: readonly Mention[],
): Promise<MentionTexts> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const read = mentions.slice(0, FILES_MAX).map(async ({ path }): Promise<readonly [string, string] | undefined> => {
    const response = await api.readBytes(instanceId, sessionId, path, CHARS_MAX + 1, signal);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const text = bytes.length > CHARS_MAX ? undefined : plainText(bytes);
    return text === undefined ? undefined : [path, text];
  });
  const settled = await Promise.allSettled(read);
  return new Map(
    settled.flatMap((each) => (each.status === "fulfilled" && each.value !== undefined ? [each.value] : [])),
  );
}

/** Undefined for what is no text. */
function plainText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
