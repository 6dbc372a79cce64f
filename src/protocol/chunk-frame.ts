/**
 * Reads the one message that makes up almost all of a stream, a text chunk as agents write it, without the JSON parser: half the
 * time, and no more objects than are needed. What it gives is what `JSON.parse` would give, member for member and in the same
 * order; whatever else a message holds, and however else it is written, is left to the parser.
 */
import type { Envelope } from "./envelope.ts";
import type { JsonObject } from "./json.ts";

/** Inside a JSON string, without escapes. */
const PLAIN = String.raw`[^"\\\u0000-\u001f]*`;
/** The same with escapes; each is judged by the parser. */
const ESCAPED = String.raw`${PLAIN}(?:\\["\\/bfnrtu]${PLAIN})*`;
const COUNT = String.raw`(0|[1-9]\d{0,14})`;

const STAMP = `"_meta":\\{"acp-hub":\\{"epoch":"(${PLAIN})","seq":${COUNT},"ts":${COUNT}\\}\\},`;
const CONTENT = `"content":\\{"type":"text","text":"(${ESCAPED})"\\}`;
const UPDATE = `"update":\\{"sessionUpdate":"(${PLAIN})",${CONTENT}(?:,"messageId":"(${PLAIN})")?\\}`;
const CHUNK = new RegExp(
  `^\\{"jsonrpc":"2\\.0","method":"session/update","params":\\{(?:${STAMP})?"sessionId":"(${PLAIN})",${UPDATE}\\}\\}$`,
);

/** Longer ones are rare, and a pattern remembers every character it may have to give back. */
const CHARS_MAX = 8192;

/** The envelope of a text chunk in its usual form; undefined for everything else. */
export function readChunk(text: string): Envelope | undefined {
  if (text.length > CHARS_MAX) return undefined;
  const found = CHUNK.exec(text);
  if (found === null) return undefined;
  const [, epoch, seq, ts, sessionId, kind, written, messageId] = found;
  const said = unescaped(written ?? "");
  if (said === undefined) return undefined;
  const content = { type: "text", text: said };
  const update: JsonObject =
    messageId === undefined ? { sessionUpdate: kind, content } : { sessionUpdate: kind, content, messageId };
  const params: JsonObject =
    epoch === undefined
      ? { sessionId, update }
      : { _meta: { "acp-hub": { epoch, seq: Number(seq), ts: Number(ts) } }, sessionId, update };
  return { kind: "notification", msg: { jsonrpc: "2.0", method: "session/update", params } };
}

function unescaped(written: string): string | undefined {
  if (!written.includes("\\")) return written;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return undefined;
  }
}
