/**
 * The HTTP server: one gate in front of every route, in the order of contract §3: Host, Origin, credential, scope, rate, size. The
 * same routes stand on the network and on the local socket, where file permissions are the credential.
 */
import { randomBytes } from "node:crypto";
import { STATUS_CODES } from "node:http";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { DEPTH_MAX, isTooDeep } from "../../protocol/depth.ts";
import { EVENT_ID_HEADER } from "../../protocol/event-position.ts";
import { meets, missingScopes, type Requirement } from "../../protocol/scopes.ts";
import { askedAt, checkHost, checkOrigin, type Edge } from "../edge.ts";
import { owner, type Principal } from "../principal.ts";
import type { UpgradeRefusal } from "../upgrade.ts";
import { Problem, sendProblem } from "./problem.ts";

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal | undefined;
  }
  interface FastifyContextConfig {
    /** What the route needs; absent: no credential at all. */
    needs?: Requirement;
  }
}

/** A request in the log. `requestId` stands in the answer too (`X-Request-Id`): who reports a fault can name it. */
export interface RequestNote {
  readonly route: string;
  /** The client's, behind trusted proxies already resolved. */
  readonly address: string;
  readonly requestId: string;
}

export interface AppPorts {
  readonly edge: Edge;
  readonly basePath: string;
  /** Who it is, or why not. Never throws. */
  authenticate(request: FastifyRequest): Promise<Principal | UpgradeRefusal>;
  onRefused(status: number, request: RequestNote): void;
  onError(error: Error, request: RequestNote): void;
  /** Told of every route that stands, e.g. `GET /api/instances`, with what it needs. */
  onRoute(route: string, needs: Requirement | undefined): void;
}

export interface AppOptions {
  /** The local socket: no Host, no Origin, the owner. */
  readonly isLocal: boolean;
  readonly bodyBytes: number;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
}

/** Where anybody may knock: a code or a credential is shorter, and what has come of a body is kept until it is whole. */
const OPEN_BODY_BYTES = 16_384;

export type Routes = (app: FastifyInstance) => void;

export function buildApp(ports: AppPorts, options: AppOptions, routes: readonly Routes[]): FastifyInstance {
  const app = fastify({
    logger: false,
    // Ours alone: one that the caller names would let it write into the log.
    requestIdHeader: false,
    genReqId: () => randomBytes(9).toString("base64url"),
    bodyLimit: options.bodyBytes,
    // Slow-loris: a request has this long to arrive.
    requestTimeout: 30_000,
    routerOptions: { maxParamLength: 2048 },
    forceCloseConnections: true,
    // A target that cannot be read never reaches a route; the framework would quote it back, and a token may stand in it.
    frameworkErrors: (error, _request, reply) => {
      sendProblem(
        reply as unknown as FastifyReply,
        new Problem((error as { statusCode?: number }).statusCode ?? 400, "The request target is malformed"),
      );
    },
    ...(options.tls === undefined ? {} : { https: options.tls }),
  }) as unknown as FastifyInstance;
  app.decorateRequest("principal", undefined);
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (!isTooDeep(body as string)) return parseJson(request, body as string, done);
    return done(new Problem(400, `The body is nested deeper than ${DEPTH_MAX} levels`));
  });
  app.addHook("onRoute", (route) => {
    const { method, url, config } = route;
    if (config?.needs === undefined) route.bodyLimit = Math.min(options.bodyBytes, OPEN_BODY_BYTES);
    for (const each of [method].flat()) ports.onRoute(`${each} ${url}`, config?.needs);
  });
  app.addHook("onRequest", (request, reply) => gate(ports, options, request, reply));
  app.setErrorHandler((error, request, reply) =>
    onError(ports, error as Error & { statusCode?: number; code?: string }, request, reply),
  );
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, new Problem(404, "There is nothing at this address")));
  app.register(
    (scope, _options, done) => {
      for (const add of routes) add(scope);
      done();
    },
    { prefix: ports.basePath },
  );
  return app;
}

async function gate(ports: AppPorts, options: AppOptions, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header("X-Request-Id", request.id);
  if (options.isLocal) {
    request.principal = owner;
    return;
  }
  const { headers } = request;
  harden(reply);
  const at = askedAt(ports.edge, request.raw);
  for (const verdict of [checkHost(ports.edge, at.host), checkOrigin(ports.edge, headers.origin, at)]) {
    if (verdict.ok) continue;
    ports.onRefused(verdict.status, noteOf(ports, request));
    return void (await sendProblem(reply, new Problem(verdict.status, verdict.detail)));
  }
  allowOrigin(ports.edge, headers.origin, reply);
  if (isPreflight(ports.edge, request)) return void (await answerPreflight(reply));
  const { needs } = request.routeOptions.config;
  if (needs === undefined) return;
  const principal = await ports.authenticate(request);
  const refusal = refusalOf(principal, needs);
  if (refusal !== undefined) {
    ports.onRefused(refusal.status, noteOf(ports, request));
    return void (await sendProblem(reply, refusal));
  }
  request.principal = principal as Principal;
}

const noteOf = ({ edge }: AppPorts, request: FastifyRequest): RequestNote => ({
  route: request.routeOptions.url ?? "",
  address: edge.addressOf(request.raw),
  requestId: request.id,
});

function refusalOf(principal: Principal | UpgradeRefusal, needs: Requirement): Problem | undefined {
  if ("status" in principal) {
    const { status, detail, retryAfterSeconds } = principal;
    return new Problem(status, detail, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
  }
  if (meets(principal.scopes, needs)) return undefined;
  const missing = missingScopes(principal.scopes, needs);
  return new Problem(403, `This credential lacks ${missing.join(", ")}`, { code: "missing-scope", missing });
}

/** What no answer of the API may do in a browser: be shown in a frame, be guessed to be a page, be loaded by another site. */
function harden(reply: FastifyReply): void {
  reply
    .header("X-Content-Type-Options", "nosniff")
    .header("X-Frame-Options", "DENY")
    .header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
    .header("Cross-Origin-Resource-Policy", "same-origin")
    .header("Referrer-Policy", "same-origin");
}

/** A browser asks first, without any credential, whether a page of a configured origin may ask (contract §3). */
function isPreflight(edge: Edge, request: FastifyRequest): boolean {
  const { origin } = request.headers;
  const wanted = request.headers["access-control-request-method"];
  return request.method === "OPTIONS" && wanted !== undefined && origin !== undefined && edge.origins.has(origin);
}

const answerPreflight = (reply: FastifyReply): FastifyReply =>
  reply
    .code(204)
    .header("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
    .header("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, If-None-Match")
    .header("Access-Control-Max-Age", "600")
    .send();

/** CORS only for exact entries of `http.origins`, on every status, never with cookies (contract §3). */
function allowOrigin(edge: Edge, origin: string | undefined, reply: FastifyReply): void {
  reply.header("Vary", "Origin");
  if (origin === undefined || !edge.origins.has(origin)) return;
  reply.header("Access-Control-Allow-Origin", origin).header("Access-Control-Expose-Headers", EVENT_ID_HEADER);
}

/** The framework's own words may quote the request, and that may hold a secret: ours never do. */
const WORDS: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: "The body is not JSON",
  FST_ERR_CTP_EMPTY_JSON_BODY: "The body is empty",
  FST_ERR_CTP_BODY_TOO_LARGE: "The body is larger than the hub takes",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "The body has to be application/json",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "The body is not as long as it says",
};

function onError(
  ports: AppPorts,
  error: Error & { statusCode?: number; code?: string },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (error instanceof Problem) return sendProblem(reply, error);
  const status = error.statusCode ?? 500;
  const words = WORDS[error.code ?? ""];
  if (words !== undefined) return sendProblem(reply, new Problem(status, words));
  // A fault of ours never blames the caller, and never shows its insides (style: a catch never blames the wrong side).
  if (status >= 500) {
    ports.onError(error, noteOf(ports, request));
    return sendProblem(reply, new Problem(500, "The hub failed to do this"));
  }
  return sendProblem(reply, new Problem(status, STATUS_CODES[status] ?? "The request cannot be read"));
}

/** The caller of a route that needs a credential. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === undefined) throw new Error("a route without `needs` asked for its principal");
  return request.principal;
}
