/** What may stand in one WebSocket message, for both ends of a socket (T1). */
import { type ParsedFrame, parseFrame } from "../protocol/envelope.ts";
import { RPC } from "../protocol/errors.ts";

const LINE_ENDS = /[\r\n]+/g;
const utf8 = new TextDecoder();

/** The text of a binary message; bytes that are no UTF-8 become U+FFFD. */
export function decodeBinary(data: Uint8Array): string {
  return utf8.decode(data);
}

/**
 * Reads the messages of one WebSocket message. It is parsed whole first; only a message that is no JSON at all is split
 * at its line ends, because some clients put several messages, or a trailing line end, into one frame. The texts of the
 * frames hold no line ends: they go on over newline-delimited links.
 */
export function readMessages(text: string): ParsedFrame[] {
  const whole = parseFrame(text);
  if (whole.ok) return [{ ok: true, frame: { ...whole.frame, text: onOneLine(text) } }];
  if (whole.reply.error.code !== RPC.parseError || !text.includes("\n")) return [whole];
  const lines = text.split(/\r?\n/).filter((line) => line.length > 0);
  return lines.map((line) => parseFrame(line));
}

/** Line ends in well-formed JSON stand between tokens only: inside a string they are escaped. */
function onOneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(LINE_ENDS, " ").trim() : text;
}
