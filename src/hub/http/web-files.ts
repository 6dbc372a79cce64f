/**
 * The built app in memory: a few hundred kilobytes, and no request ever names a path on disk. What packing pays for is shipped
 * packed only (`build.mjs`); who takes none of the codings gets it unpacked.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import type { Coding } from "./content-coding.ts";

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

/** One form of a file, with a mark of its own: the same bytes have the same mark. */
export interface WebBody {
  readonly bytes: Buffer;
  readonly etag: string;
}

export interface WebFile {
  readonly type: string;
  /** Its name changes with its content. */
  readonly isHashed: boolean;
  /** The codings there are, the smallest first. */
  readonly codings: readonly Coding[];
  body(coding: Coding | undefined): Promise<WebBody>;
}

export type WebFiles = ReadonlyMap<string, WebFile>;

/** `dist/web` beside the built program; nothing when this runs unbuilt. */
export const builtWebDir = (): string => fileURLToPath(new URL("../web", import.meta.url));

type Form = Coding | "plain";

const FORM_OF_SUFFIX: Readonly<Record<string, Coding>> = { ".br": "br", ".gz": "gzip" };

export async function readWebFiles(dir: string): Promise<WebFiles> {
  const forms = new Map<string, Map<Form, WebBody>>();
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
  const read = entries.map(async (entry): Promise<void> => {
    if (!entry.isFile() || entry.name.endsWith(".map")) return;
    const path = join(entry.parentPath, entry.name);
    const form = FORM_OF_SUFFIX[extname(path)];
    const address = relative(dir, path).split(sep).join("/");
    const name = form === undefined ? address : address.slice(0, -extname(path).length);
    const body = marked(await readFile(path));
    forms.set(name, (forms.get(name) ?? new Map<Form, WebBody>()).set(form ?? "plain", body));
  });
  await Promise.all(read);
  return new Map([...forms].map(([name, bodies]) => [name, fileOf(name, bodies)]));
}

const marked = (bytes: Buffer): WebBody => ({
  bytes,
  etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
});

const SMALLEST_FIRST: readonly Coding[] = ["br", "gzip"];

const UNPACK: Readonly<Record<Coding, (packed: Buffer) => Promise<Buffer>>> = {
  br: promisify(brotliDecompress),
  gzip: promisify(gunzip),
};

function fileOf(name: string, bodies: ReadonlyMap<Form, WebBody>): WebFile {
  const codings = SMALLEST_FIRST.filter((coding) => bodies.has(coding));
  const plain = plainOf(bodies, codings);
  return {
    type: TYPES[extname(name)] ?? "application/octet-stream",
    isHashed: /^assets\/.*[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$/.test(name),
    codings,
    body: async (coding) => (coding === undefined ? undefined : bodies.get(coding)) ?? plain(),
  };
}

function plainOf(bodies: ReadonlyMap<Form, WebBody>, codings: readonly Coding[]): () => Promise<WebBody> {
  const shipped = bodies.get("plain");
  if (shipped !== undefined) return () => Promise.resolve(shipped);
  // Made once, when first asked for: hardly anyone does.
  let unpacked: Promise<WebBody> | undefined;
  return () => {
    unpacked ??= unpack(bodies, codings);
    return unpacked;
  };
}

async function unpack(bodies: ReadonlyMap<Form, WebBody>, codings: readonly Coding[]): Promise<WebBody> {
  const coding = codings[0];
  const packed = coding === undefined ? undefined : bodies.get(coding);
  if (coding === undefined || packed === undefined) throw new Error("a file without any form");
  return marked(await UNPACK[coding](packed.bytes));
}
