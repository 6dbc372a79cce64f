/**
 * Server-side WebSocket text frames made by hand: unmasked, whole, uncompressed. Framed once, they are written to every
 * socket of a session as they are, where `ws.send` would frame, and call into the socket, per client and message.
 */
const TEXT_FRAME = 0x81;
/** Payloads up to here have their length in the second byte. */
const MAX_SHORT = 125;
const MAX_MEDIUM = 0xffff;

function headerBytes(payloadBytes: number): number {
  if (payloadBytes <= MAX_SHORT) return 2;
  return payloadBytes <= MAX_MEDIUM ? 4 : 10;
}

function writeHeader(out: Buffer, at: number, payloadBytes: number): number {
  out[at] = TEXT_FRAME;
  if (payloadBytes <= MAX_SHORT) {
    out[at + 1] = payloadBytes;
    return at + 2;
  }
  if (payloadBytes <= MAX_MEDIUM) {
    out[at + 1] = 126;
    return out.writeUInt16BE(payloadBytes, at + 2);
  }
  out[at + 1] = 127;
  out.writeUInt32BE(Math.floor(payloadBytes / 0x1_0000_0000), at + 2);
  return out.writeUInt32BE(payloadBytes % 0x1_0000_0000, at + 6);
}

/** One message as one frame. A lone surrogate becomes U+FFFD: a browser closes on anything that is no UTF-8. */
export function encodeTextFrame(text: string): Buffer {
  return encodeTextFrames([text]);
}

/** Several messages, one frame each, in one buffer of exactly their size. */
export function encodeTextFrames(texts: readonly string[]): Buffer {
  const sizes = new Array<number>(texts.length);
  let total = 0;
  for (let index = 0; index < texts.length; index += 1) {
    const size = Buffer.byteLength(texts[index] ?? "", "utf8");
    sizes[index] = size;
    total += headerBytes(size) + size;
  }
  const out = Buffer.allocUnsafe(total);
  let at = 0;
  for (let index = 0; index < texts.length; index += 1) {
    at = writeHeader(out, at, sizes[index] ?? 0);
    at += out.write(texts[index] ?? "", at, "utf8");
  }
  return out;
}
