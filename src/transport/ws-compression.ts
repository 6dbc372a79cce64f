/**
 * permessage-deflate as slow links can have it (RFC 7692): a frame is compressed once, without context, and shared by every client
 * that takes such frames, as the plain one is by the others. What the library would do instead costs a context of 230 kB and a
 * compression of its own per client, and writes asynchronously.
 */
import { constants, deflateRawSync } from "node:zlib";

/** Smaller payloads gain a third at best, and are most of a stream. */
export const COMPRESS_FROM_BYTES = 1024;
/** Larger ones would hold everybody up while they are compressed: about 10 ms for this much. */
export const COMPRESS_UP_TO_BYTES = 1_048_576;

const TEXT = 0x81;
const TEXT_COMPRESSED = 0xc1;
const LENGTH_16 = 126;
/** A flush ends in these; the receiver puts them back. */
const FLUSH_TAIL_BYTES = 4;
const LEVEL = 1;

const packed = new WeakMap<Buffer, Buffer>();

/** `frames`, as `encodeTextFrames` made them, with the large ones compressed; made once per buffer. */
export function compressedFrames(frames: Buffer): Buffer {
  const known = packed.get(frames);
  if (known !== undefined) return known;
  const made = pack(frames);
  packed.set(frames, made);
  return made;
}

function pack(frames: Buffer): Buffer {
  if (frames.length <= COMPRESS_FROM_BYTES) return frames;
  const parts: Buffer[] = [];
  /** Where the frames begin that go as they are. */
  let plainFrom = 0;
  for (let at = 0; at < frames.length; ) {
    const { start, end } = payloadOf(frames, at);
    const small = end - start < COMPRESS_FROM_BYTES || end - start > COMPRESS_UP_TO_BYTES;
    const frame = small ? undefined : compressedFrame(frames.subarray(start, end));
    if (frame !== undefined) {
      parts.push(frames.subarray(plainFrom, at), frame);
      plainFrom = end;
    }
    at = end;
  }
  if (plainFrom === 0) return frames;
  parts.push(frames.subarray(plainFrom));
  return Buffer.concat(parts);
}

/** The payload of the frame at `at`: unmasked and whole, as all of ours are. */
function payloadOf(frames: Buffer, at: number): { start: number; end: number } {
  const short = (frames[at + 1] ?? 0) & 0x7f;
  if (frames[at] !== TEXT) throw new TypeError("only whole plain text frames are compressed");
  if (short < LENGTH_16) return { start: at + 2, end: at + 2 + short };
  if (short === LENGTH_16) return { start: at + 4, end: at + 4 + frames.readUInt16BE(at + 2) };
  const length = frames.readUInt32BE(at + 2) * 0x1_0000_0000 + frames.readUInt32BE(at + 6);
  return { start: at + 10, end: at + 10 + length };
}

/** Undefined when nothing is gained. */
function compressedFrame(payload: Buffer): Buffer | undefined {
  const flushed = deflateRawSync(payload, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH });
  const length = flushed.length - FLUSH_TAIL_BYTES;
  if (length >= payload.length) return undefined;
  const head = headOf(length);
  return Buffer.concat([head, flushed.subarray(0, length)]);
}

function headOf(length: number): Buffer {
  if (length < LENGTH_16) return Buffer.from([TEXT_COMPRESSED, length]);
  const head = Buffer.alloc(length <= 0xffff ? 4 : 10);
  head[0] = TEXT_COMPRESSED;
  head[1] = length <= 0xffff ? LENGTH_16 : LENGTH_16 + 1;
  if (length <= 0xffff) head.writeUInt16BE(length, 2);
  else head.writeUInt32BE(length, 6);
  return head;
}

/**
 * True when what the handshake agreed on lets us send such frames: the extension, our side without context, and a window as large
 * as the one we compress with. `header` is the `Sec-WebSocket-Extensions` of our answer.
 */
export function takesCompressed(header: string | undefined): boolean {
  if (header === undefined) return false;
  const [name, ...params] = header.split(";").map((part) => part.trim());
  if (name !== "permessage-deflate" || !params.includes("server_no_context_takeover")) return false;
  const bits = params.find((param) => param.startsWith("server_max_window_bits"));
  return bits === undefined || bits === "server_max_window_bits=15";
}
