/**
 * Reading the files of a session (contract §3): one level of a directory, the bytes of a file, a window of its lines. Only below
 * directories the owner opened; a directory that a remote client chose gives nobody anything.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { openInside, PlaceError, type PlaceErrorCode, type Wanted } from "../../bridge/host/open-inside.ts";
import type { Registry } from "../registry.ts";
import type { Routes } from "./app.ts";
import { type FileRules, fileScope } from "./file-scope.ts";
import { listDirectory } from "./list-directory.ts";
import { FILES } from "./needs.ts";
import { Problem } from "./problem.ts";
import { type Query, readQuery, readQueryNumber, sendBytes, sendWindow } from "./send-file.ts";

export interface FileRoutesOptions extends FileRules {
  readonly registry: Registry;
  /** For a moment after a start an unknown instance may still be dialling (L5). */
  readonly isStarting: () => boolean;
}

interface FileRequest {
  readonly Params: { readonly id: string };
  readonly Querystring: Query;
}

/**
 * `GET …/fs/list?sessionId&path` → `{path, entries:[{name, path, type, size, modifiedAt}], truncated}`;
 * `GET …/fs/file?sessionId&path[&offset&length | &line&limit]` → bytes (200, 206) or lines with `X-First-Line`.
 * `path` is absolute or relative to the session's cwd; absent: the cwd. 403 outside, 404 missing, 416 past the end.
 */
export function fileRoutes(options: FileRoutesOptions): Routes {
  return (app) => {
    // The framework's own HEAD would read the whole file to count it.
    const route = { ...FILES, method: ["GET", "HEAD"], exposeHeadRoute: false };
    app.get<FileRequest>("/api/instances/:id/fs/list", FILES, async (request, reply) => {
      const { opened, asked } = await openAsked(options, request, "directory");
      try {
        reply.header("Cache-Control", "no-store");
        return await listDirectory(opened, asked);
      } finally {
        await opened.handle.close();
      }
    });
    app.route<FileRequest>({
      ...route,
      url: "/api/instances/:id/fs/file",
      handler: (request, reply) => file(options, request, reply),
    });
  };
}

async function file(
  options: FileRoutesOptions,
  request: FastifyRequest<FileRequest>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { query } = request;
  const line = readQueryNumber(query, "line", 1);
  const limit = readQueryNumber(query, "limit", 1);
  const offset = readQueryNumber(query, "offset", 0);
  const length = readQueryNumber(query, "length", 1);
  const isWindow = line !== undefined || limit !== undefined;
  if (isWindow && (offset !== undefined || length !== undefined))
    throw new Problem(400, "Ask for bytes (offset, length) or for lines (line, limit), not both");
  const { opened } = await openAsked(options, request, "file");
  if (!isWindow) return sendBytes(opened, { offset, length }, request, reply);
  try {
    return await sendWindow(opened.handle, line ?? 1, limit, reply);
  } finally {
    await opened.handle.close();
  }
}

const STATUS: Readonly<Record<PlaceErrorCode, number>> = { outside: 403, denied: 403, missing: 404, "wrong-type": 404 };

async function openAsked(options: FileRoutesOptions, request: FastifyRequest<FileRequest>, wanted: Wanted) {
  const sessionId = readQuery(request.query, "sessionId");
  const path = readQuery(request.query, "path") ?? "";
  if (sessionId === undefined || sessionId === "") throw new Problem(400, '"sessionId" is needed');
  if (path.includes("\0")) throw new Problem(400, '"path" is no path');
  const scope = fileScope(options, options.registry, request.params.id, sessionId, options.isStarting());
  try {
    const opened = await openInside(scope.resolve(path), scope.roots, wanted);
    if (!scope.isHidden(opened.path)) return { opened, asked: path };
    await opened.handle.close();
  } catch (error) {
    if (!(error instanceof PlaceError)) throw error;
    throw new Problem(STATUS[error.code], error.message, { code: error.code });
  }
  throw new Problem(403, "The hub's own files are not served", { code: "outside" });
}
