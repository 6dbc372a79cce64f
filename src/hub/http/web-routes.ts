/** The app, served by the hub itself (design §6.10): same origin, no CORS, nothing from anywhere else. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Routes } from "./app.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

interface Asset {
  readonly body: Buffer;
  readonly type: string;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isHashed: boolean;
  /** gzip of it; undefined for what would gain nothing. Made once, when first asked for. */
  packed(): Promise<Buffer | undefined>;
}

export type WebFiles = ReadonlyMap<string, Asset>;

/** `dist/web` beside the built program; nothing when this runs unbuilt. */
export const builtWebDir = (): string => fileURLToPath(new URL("../web", import.meta.url));

/** Reads the built app into memory: a few hundred kilobytes, and no request ever names a path on disk. */
export async function readWebFiles(dir: string): Promise<WebFiles> {
  const files = new Map<string, Asset>();
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile() || entry.name.endsWith(".map")) continue;
    const path = join(entry.parentPath, entry.name);
    const body = await readFile(path);
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    files.set(relative(dir, path).split(sep).join("/"), {
      body,
      type,
      packed: packer(body, type),
      etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
      isHashed: /[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$/.test(entry.name) && path.includes(`${sep}assets${sep}`),
    });
  }
  return files;
}

const PACKED_MIN_BYTES = 1024;
const pack = promisify(gzip);

/** Over a mobile network the app is a third as long to load. Nothing secret stands in these files. */
function packer(body: Buffer, type: string): Asset["packed"] {
  if (body.length < PACKED_MIN_BYTES || !/^(?:text\/|application\/|image\/svg)/.test(type))
    return () => Promise.resolve(undefined);
  let made: Promise<Buffer> | undefined;
  return () => {
    made ??= pack(body, { level: 9 });
    return made;
  };
}

const takesGzip = (request: FastifyRequest): boolean =>
  /(?:^|,)\s*gzip\s*(?:;\s*q=(?:1|0\.\d*[1-9])[\d.]*\s*)?(?:,|$)/i.test(
    String(request.headers["accept-encoding"] ?? ""),
  );

/** What a page of ours may do. Sockets are named one by one: not every browser counts them as its own origin. */
function policy(host: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' ws://${host} wss://${host}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

export function webRoutes(files: WebFiles): Routes {
  return (app) => {
    app.get("/", (request, reply) => send(files, "index.html", request, reply));
    app.get<{ Params: { "*": string } }>("/*", (request, reply) => send(files, request.params["*"], request, reply));
  };
}

async function send(
  files: WebFiles,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const asset = files.get(name);
  if (asset === undefined) {
    reply.callNotFound();
    return reply;
  }
  reply
    .header("Content-Security-Policy", policy(request.headers.host ?? ""))
    .header("X-Content-Type-Options", "nosniff")
    .header("X-Frame-Options", "DENY")
    // The origin alone, and only to ourselves: the hub tells its own pages by it where browsers send nothing else.
    .header("Referrer-Policy", "same-origin")
    .header("Cross-Origin-Opener-Policy", "same-origin")
    .header("Cross-Origin-Resource-Policy", "same-origin")
    .header("Permissions-Policy", "camera=(self), microphone=(), geolocation=()")
    .header("Cache-Control", asset.isHashed ? "public, max-age=31536000, immutable" : "no-cache")
    .header("Vary", "Origin, Accept-Encoding")
    .type(asset.type);
  const packed = takesGzip(request) ? await asset.packed() : undefined;
  const etag = packed === undefined ? asset.etag : asset.etag.replace(/"$/, '-gz"');
  reply.header("ETag", etag);
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  return packed === undefined ? reply.send(asset.body) : reply.header("Content-Encoding", "gzip").send(packed);
}
