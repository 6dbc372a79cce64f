/** The app, served by the hub itself (design §6.10): same origin, no CORS, nothing from anywhere else. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Routes } from "./app.ts";
import { chooseCoding, isKnownAlready } from "./content-coding.ts";
import type { WebFiles } from "./web-files.ts";

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
  const file = files.get(name);
  if (file === undefined) {
    reply.callNotFound();
    return reply;
  }
  const coding = chooseCoding(headerOf(request, "accept-encoding"), file.codings);
  const { bytes, etag } = await file.body(coding);
  reply
    .header("Content-Security-Policy", policy(request.headers.host ?? ""))
    .header("X-Content-Type-Options", "nosniff")
    .header("X-Frame-Options", "DENY")
    // The origin alone, and only to ourselves: the hub tells its own pages by it where browsers send nothing else.
    .header("Referrer-Policy", "same-origin")
    .header("Cross-Origin-Opener-Policy", "same-origin")
    .header("Cross-Origin-Resource-Policy", "same-origin")
    .header("Permissions-Policy", "camera=(self), microphone=(), geolocation=()")
    .header("Cache-Control", file.isHashed ? "public, max-age=31536000, immutable" : "no-cache")
    .header("Vary", file.codings.length === 0 ? "Origin" : "Origin, Accept-Encoding")
    .header("ETag", etag)
    .type(file.type);
  if (isKnownAlready(headerOf(request, "if-none-match"), etag)) return reply.code(304).send();
  if (coding !== undefined) reply.header("Content-Encoding", coding);
  return reply.send(bytes);
}

/** Several lines of one header are one list. */
function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}
