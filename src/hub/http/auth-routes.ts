/** Pairing, tokens, tickets and devices (contract §2, §3). Secrets are given out once, here, and stand in no log. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Auth, PairAttempt } from "../../auth/auth.ts";
import { type AuthFailure, isAuthFailure } from "../../auth/failures.ts";
import { type CookieOptions, clearedCookie } from "../../auth/grants/cookie-key.ts";
import type { Actor, Clock } from "../../auth/ports.ts";
import { RateLimit } from "../../auth/rate-limit.ts";
import { deviceId } from "../../protocol/ids.ts";
import { scopesFromText, scopesToText } from "../../protocol/scope-text.ts";
import type { Principal } from "../principal.ts";
import { deviceNameBody, newTokenBody, pairBody, pairingBody, tokenBody } from "./api/bodies.ts";
import type { DeviceView } from "./api/shapes.ts";
import { principalOf, type Routes } from "./app.ts";
import { ADMIN, ANY } from "./needs.ts";
import { Problem } from "./problem.ts";
import { readBody } from "./read-body.ts";

/** How often a device may rename itself in a minute. */
const OWN_RENAMES_MAX = 10;
const RUNNING: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

export interface AuthRoutePorts {
  readonly auth: Auth;
  cookieOptions(request: FastifyRequest): CookieOptions;
  /** Where a phone opens the app: the address a pairing link starts with, without a slash at its end. */
  publicUrl(): string;
  addressOf(request: FastifyRequest): string;
  /** Connections a device has open now. */
  connectionsOf(deviceId: string): number;
  /** Of a certificate of our own making: a client that pairs can compare it. */
  readonly tlsFingerprint?: string | undefined;
}

function orProblem<T extends object>(answer: T | AuthFailure): T {
  if (!isAuthFailure(answer)) return answer;
  const { status, detail, code, retryAfterSeconds } = answer;
  throw new Problem(status, detail, { code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
}

const actorOf = (principal: Principal, address: string): Actor => ({
  deviceId: principal.deviceId,
  name: principal.name,
  address,
});

export function authRoutes(ports: AuthRoutePorts): Routes {
  return (app) => {
    app.get("/.well-known/jwks.json", (_request, reply) =>
      reply.header("Cache-Control", "max-age=300").send(ports.auth.jwks()),
    );
    for (const add of [pairingRoutes, tokenRoutes, deviceRoutes]) add(ports)(app);
  };
}

function pairingRoutes(ports: AuthRoutePorts): Routes {
  const { auth } = ports;
  return (app) => {
    app.post("/api/pairings", ADMIN, (request, reply) => {
      const { scope, name, ttlSeconds, url: startsWith } = readBody(pairingBody, request);
      const wanted = {
        scopes: scopesFromText(scope) ?? [],
        ...(name !== undefined && { name }),
        ...(ttlSeconds !== undefined && { ttlMs: ttlSeconds * 1000 }),
      };
      const made = orProblem(auth.createPairing(wanted, withVia(principalOf(request)), ports.addressOf(request)));
      const base = startsWith ?? ports.publicUrl();
      // In the fragment: it reaches no server, no proxy and no log.
      const print = ports.tlsFingerprint === undefined ? "" : `&tls=${ports.tlsFingerprint}`;
      const url = `${base.replace(/\/$/, "")}/#pair=${made.linkSecret}${print}`;
      return reply
        .code(201)
        .send({ code: made.code, url, scope: scopesToText(made.scopes), expiresAt: made.expiresAt });
    });
    app.post("/api/pair", async (request, reply) => {
      const { code, name, mode } = readBody(pairBody, request);
      const attempt: PairAttempt = { code, name, address: ports.addressOf(request) };
      if (mode === "cookie") return pairBrowser(ports, attempt, request, reply);
      const { scopes, ...pair } = orProblem(await auth.pair(attempt));
      return reply.code(201).send({ ...pair, scope: scopesToText(scopes), scopes });
    });
  };
}

async function pairBrowser(
  ports: AuthRoutePorts,
  attempt: PairAttempt,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const paired = orProblem(await ports.auth.pairBrowser(attempt, ports.cookieOptions(request)));
  const { deviceId: id, scopes, key, setCookie } = paired;
  return reply
    .code(201)
    .header("Set-Cookie", setCookie)
    .send({ deviceId: id, scope: scopesToText(scopes), scopes, key });
}

function tokenRoutes(ports: AuthRoutePorts): Routes {
  const { auth } = ports;
  return (app) => {
    app.post("/api/token", async (request) => {
      const { refreshToken } = readBody(tokenBody, request);
      const { scopes, ...pair } = orProblem(await auth.refresh(refreshToken, ports.addressOf(request)));
      return { ...pair, scope: scopesToText(scopes), scopes };
    });
    app.post("/api/tokens", ADMIN, async (request, reply) => {
      const { scope, name = "token", ttlSeconds, query = false } = readBody(newTokenBody, request);
      const wanted = {
        name,
        scopes: scopesFromText(scope) ?? [],
        queryAllowed: query,
        ...(ttlSeconds !== undefined && { ttlMs: ttlSeconds * 1000 }),
      };
      const { record, token } = orProblem(await auth.createToken(wanted, withVia(principalOf(request))));
      return reply
        .code(201)
        .send({ token, deviceId: record.deviceId, name: record.name, expiresAt: record.expiresAt ?? null });
    });
    app.post("/api/ws-ticket", ANY, (request, reply) =>
      reply.code(201).send(auth.issueTicket(withVia(principalOf(request)))),
    );
    app.post("/api/logout", ANY, (request, reply) => {
      const principal = principalOf(request);
      auth.devices.revoke(principal.deviceId, "logged out", actorOf(principal, ports.addressOf(request)));
      return reply
        .code(204)
        .header("Set-Cookie", clearedCookie(ports.cookieOptions(request)))
        .send();
    });
  };
}

function deviceRoutes(ports: AuthRoutePorts): Routes {
  const { devices } = ports.auth;
  const renames = new RateLimit({ clock: RUNNING, failuresMax: OWN_RENAMES_MAX, windowMs: 60_000 });
  return (app) => {
    app.get("/api/devices", ANY, (request) => {
      const principal = principalOf(request);
      const isAdmin = principal.scopes.has("admin");
      return devices
        .list()
        .filter((record) => record.revokedAt === undefined && (isAdmin || record.deviceId === principal.deviceId))
        .map(
          (record): DeviceView => ({
            ...record,
            scope: scopesToText(record.scopes),
            connections: ports.connectionsOf(record.deviceId),
            isThis: record.deviceId === principal.deviceId,
          }),
        );
    });
    app.patch<{ Params: { id: string } }>("/api/devices/:id", ANY, (request, reply) => {
      const { name } = readBody(deviceNameBody, request);
      const actor = ownOrAdmin(ports, request, request.params.id);
      if (!principalOf(request).scopes.has("admin")) countRename(renames, actor.deviceId);
      if (!devices.rename(deviceId(request.params.id), name, actor)) throw new Problem(404, "No such device");
      return reply.code(204).send();
    });
    app.delete<{ Params: { id: string } }>("/api/devices/:id", ANY, (request, reply) => {
      const actor = ownOrAdmin(ports, request, request.params.id);
      if (!devices.revoke(deviceId(request.params.id), "revoked", actor)) throw new Problem(404, "No such device");
      return reply.code(204).send();
    });
  };
}

/** Each stands in the audit for good: nobody without rights over others may fill the disk with his name. */
function countRename(renames: RateLimit, id: string): void {
  const retryAfterSeconds = renames.retryAfterSeconds(id);
  if (retryAfterSeconds > 0) throw new Problem(429, "This device has been renamed too often", { retryAfterSeconds });
  renames.onFailure(id);
}

/** A device may rename and revoke itself; others need `admin`. */
function ownOrAdmin(ports: AuthRoutePorts, request: FastifyRequest, target: string): Actor {
  const principal = principalOf(request);
  if (principal.deviceId !== target && !principal.scopes.has("admin")) {
    throw new Problem(403, "This credential lacks admin", { code: "missing-scope", missing: ["admin"] });
  }
  return actorOf(principal, ports.addressOf(request));
}

const withVia = (principal: Principal) => ({ ...principal, kind: "local" as const, via: "local" as const });
