/** Sends bytes or lines of an opened file. Nothing sent can act as a page of this hub: an agent's files are not to be trusted. */
import type { FileHandle } from "node:fs/promises";
import { extname } from "node:path";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Opened } from "../../bridge/host/open-inside.ts";
import { readTextWindow } from "../../bridge/host/text-window.ts";
import { Problem } from "./problem.ts";

export interface ByteRange {
  readonly offset: number | undefined;
  readonly length: number | undefined;
}

const LIMIT_DEFAULT = 1000;
const LIMIT_MAX = 10_000;
const WINDOW_MAX_BYTES = 4_194_304;
const WINDOW_SKIP_BYTES = 268_435_456;

/** Types that show something and run nothing. */
const SAFE_TYPES: ReadonlyMap<string, string> = new Map([
  [".png", "image/png"],
  [".jpg", "image/jpeg"],
  [".jpeg", "image/jpeg"],
  [".gif", "image/gif"],
  [".webp", "image/webp"],
  [".avif", "image/avif"],
]);

export type Query = Readonly<Record<string, unknown>>;

/** A member of the query; undefined when absent. One given twice means nothing. */
export function readQuery(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === "string") return value;
  throw new Problem(400, `"${name}" may stand once`);
}

/** A whole number of the query, at least `min`; undefined when absent. */
export function readQueryNumber(query: Query, name: string, min: number): number | undefined {
  const text = readQuery(query, name);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min) return value;
  throw new Problem(400, `"${name}" has to be a whole number from ${min}`);
}

/** The handle is closed when the bytes are out, or nobody wants them any more. */
export async function sendBytes(
  opened: Opened,
  range: ByteRange,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const size = Number(opened.stats.size);
  const start = range.offset ?? 0;
  const isRange = range.offset !== undefined || range.length !== undefined;
  try {
    if (start > size || (start === size && isRange)) {
      reply.header("Content-Range", `bytes */${size}`);
      throw new Problem(416, `The file has ${size} bytes`, { code: "past-end", size });
    }
    const end = range.length === undefined ? size : Math.min(size, start + range.length);
    harmless(reply).type(SAFE_TYPES.get(extname(opened.path).toLowerCase()) ?? "application/octet-stream");
    if (isRange) reply.code(206).header("Content-Range", `bytes ${start}-${end - 1}/${size}`);
    reply.header("Content-Length", end - start);
    if (request.method === "HEAD" || end === start) {
      await opened.handle.close();
      return reply.send("");
    }
    const bytes = opened.handle.createReadStream({ start, end: end - 1 });
    // A file that shrank meanwhile: the length is promised, so the only honest end is a cut.
    bytes.on("end", () => bytes.bytesRead < end - start && reply.raw.destroy());
    return reply.send(bytes);
  } catch (error) {
    await opened.handle.close();
    throw error;
  }
}

export async function sendWindow(
  handle: FileHandle,
  line: number,
  limit: number | undefined,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const window = await readTextWindow(handle, {
    line,
    limit: Math.min(limit ?? LIMIT_DEFAULT, LIMIT_MAX),
    maxBytes: WINDOW_MAX_BYTES,
    maxSkipBytes: WINDOW_SKIP_BYTES,
  });
  if (window.kind === "past-end")
    throw new Problem(416, `The file has ${window.lines} lines`, { code: "past-end", lines: window.lines });
  if (window.kind === "too-large")
    throw new Problem(413, "These lines are too much for one answer: ask for bytes", { code: "too-large" });
  return harmless(reply)
    .type("text/plain; charset=utf-8")
    .header("X-First-Line", line)
    .header("X-Zcode-First-Line", line)
    .header("X-Has-More", String(window.hasMore))
    .header("Access-Control-Expose-Headers", "X-First-Line, X-Zcode-First-Line, X-Has-More")
    .send(window.text);
}

const harmless = (reply: FastifyReply): FastifyReply =>
  reply
    .header("Cache-Control", "no-store")
    .header("X-Content-Type-Options", "nosniff")
    .header("Content-Security-Policy", "default-src 'none'; sandbox")
    .header("Cross-Origin-Resource-Policy", "same-origin");
