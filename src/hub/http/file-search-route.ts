/** Finding a file of a session by a few letters of its name: what the app offers after "@". */
import { isAbsolute, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { FastifyReply } from "fastify";
import type { Routes } from "./app.ts";
import type { FileRoutesOptions } from "./file-routes.ts";
import { type FileScope, fileScope } from "./file-scope.ts";
import { FILES } from "./needs.ts";
import { Problem } from "./problem.ts";
import { type FoundFile, searchFiles } from "./search-files.ts";
import { type Query, readQuery, readQueryNumber } from "./send-file.ts";

export interface FileMatches {
  /** Best first. */
  readonly entries: readonly FileSearchEntry[];
  /** Not all of the workspace was looked at. */
  readonly truncated: boolean;
}

interface FileSearchEntry {
  /** What the other file routes take: relative to the session's cwd when it is inside, else absolute. */
  readonly path: string;
  readonly name: string;
  /** `file:` address, for an agent. */
  readonly uri: string;
}

interface SearchRequest {
  readonly Params: { readonly id: string };
  readonly Querystring: Query;
}

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
const QUERY_CHARS_MAX = 200;

/** A search reads a workspace: more of them at once are told to come back. */
const RUNNING_MAX = 8;

/** `GET …/fs/search?sessionId&q&limit` → `{entries:[{path, name, uri}], truncated}`, best first. Ends when the caller goes. */
export function fileSearchRoute(options: FileRoutesOptions): Routes {
  let running = 0;
  return (app) => {
    app.get<SearchRequest>("/api/instances/:id/fs/search", FILES, async (request, reply): Promise<FileMatches> => {
      const { query } = request;
      const text = readQuery(query, "q") ?? "";
      const limit = Math.min(readQueryNumber(query, "limit", 1) ?? LIMIT_DEFAULT, LIMIT_MAX);
      const sessionId = readQuery(query, "sessionId") ?? "";
      if (sessionId === "") throw new Problem(400, '"sessionId" is needed');
      if (text.length > QUERY_CHARS_MAX) throw new Problem(400, `"q" may have at most ${QUERY_CHARS_MAX} characters`);
      const scope = fileScope(options, options.registry, request.params.id, sessionId, options.isStarting());
      if (running >= RUNNING_MAX)
        throw new Problem(429, "Too many searches at once", { code: "busy", retryAfterSeconds: 1 });
      running += 1;
      const signal = goneOf(reply);
      try {
        const { roots, isHidden } = scope;
        const { found, truncated } = await searchFiles({ roots, query: text, limit, isHidden, signal });
        reply.header("Cache-Control", "no-store");
        return { entries: found.map((file) => entryOf(scope, file)), truncated };
      } catch (error) {
        throw signal.aborted ? new Problem(503, "The caller has gone", { code: "gone" }) : error;
      } finally {
        running -= 1;
      }
    });
  };
}

/** Aborted when the caller hangs up: who types on asks anew. */
function goneOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return gone.signal;
}

function entryOf(scope: FileScope, { path, relativePath }: FoundFile): FileSearchEntry {
  const below = relative(scope.resolve(""), path);
  const isBelow = below !== "" && below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below);
  return {
    path: isBelow ? below.replaceAll(sep, "/") : path,
    name: relativePath.slice(relativePath.lastIndexOf("/") + 1),
    uri: pathToFileURL(path).href,
  };
}
