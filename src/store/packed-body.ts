/**
 * A journal row's body as it lies on disk: as text while it is young, deflated once it has been digested. zlib's own
 * checksum tells a damaged row from a sound one.
 */
import { deflateSync, inflateSync } from "node:zlib";
import type { SqlRow } from "./driver.ts";
import { StoreError } from "./errors.ts";

export interface StoredBody {
  /** Empty when packed. */
  readonly body: string;
  readonly packed: Uint8Array | null;
  /** On disk. */
  readonly bytes: number;
}

/** The knee of the curve: 6 takes a third longer for 1 % less. */
const LEVEL = 4;
/** One item larger than this stays as it is: packing it would stall the loop. Trimming makes none. */
const PACKED_CHARS_MAX = 524_288;
const UNPACKED_BYTES_MAX = 4 * PACKED_CHARS_MAX;
/**
 * What a packed row holds as a rule: a search unpacks one for each session it shows, which costs 0.3 ms at 64 KiB and a
 * quarter of that here, for next to no more bytes on disk.
 */
export const PACKED_ROW_CHARS = 16_384;
/** Text shrinks to about a third. */
const PACKED_RATIO = 4;

export const plainBody = (body: string): StoredBody => ({ body, packed: null, bytes: Buffer.byteLength(body) });

/** Packs when that saves something. */
export function packBody(body: string): StoredBody {
  const plain = plainBody(body);
  if (body.length > PACKED_CHARS_MAX) return plain;
  const packed = deflateSync(body, { level: LEVEL });
  return packed.length < plain.bytes * 0.9 ? { body: "", packed, bytes: packed.length } : plain;
}

/** The body of a row with the columns `body` and `packed`. Throws `StoreError` "damaged". */
export function bodyAt(row: SqlRow): string {
  const { body, packed } = row;
  if (packed instanceof Uint8Array) {
    try {
      return inflateSync(packed, { maxOutputLength: UNPACKED_BYTES_MAX }).toString("utf8");
    } catch (cause) {
      throw new StoreError("damaged", "a row of the journal cannot be unpacked", { cause });
    }
  }
  if (typeof body !== "string") throw new StoreError("damaged", "a row of the journal has no body");
  return body;
}

/** What reading the row weighs in a step that has to be short; of a packed one only its size on disk is known. */
export function workBytesAt(row: SqlRow): number {
  const bytes = typeof row["bytes"] === "number" ? row["bytes"] : 0;
  return row["packed"] === null ? bytes : Math.max(bytes * PACKED_RATIO, PACKED_ROW_CHARS);
}
