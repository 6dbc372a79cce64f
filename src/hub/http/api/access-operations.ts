/** Health, pairing, tokens, devices, and the hub about itself. */
import { z } from "zod";
import { deviceNameBody, newTokenBody, pairBody, pairingBody, successorBody, tokenBody } from "./bodies.ts";
import { inPath, inQuery, json, nothing, type Operation, problemAnswer } from "./operation.ts";
import * as shapes from "./shapes.ts";

const problem = (words: string) => problemAnswer(shapes.problem, words);
const status = (word: string) => z.object({ status: z.literal(word) });
const tunnel = z.object({ url: z.string().describe("The http or https address of the tunnel.") });
const ID = inPath("id", "A device.");

export const ACCESS_OPERATIONS: Readonly<Record<string, Operation>> = {
  "GET /healthz": { summary: "It lives", answers: { 200: json(status("ok"), "It lives.") } },
  "GET /readyz": {
    summary: "It serves",
    answers: {
      200: json(status("ready"), "It serves."),
      503: problem("It starts, stops, or makes room for a newer hub."),
    },
  },
  "GET /api/health": {
    summary: "It lives, as the predecessor said it",
    answers: { 200: { description: "The text ok.", content: { "text/plain": z.literal("ok") } } },
  },
  "GET /metrics": {
    summary: "Metrics for Prometheus",
    answers: { 200: { description: "Prometheus' text format.", content: { "text/plain": z.string() } } },
  },
  "GET /.well-known/jwks.json": {
    summary: "The keys access tokens are signed with",
    answers: { 200: json(shapes.jwks, "A JSON Web Key Set.") },
  },
  "POST /api/pairings": {
    summary: "Make a one-time way in",
    description: "Its scope lies within the issuer's.",
    body: pairingBody,
    answers: { 201: json(shapes.pairing, "A code for typing and a link for scanning.") },
  },
  "POST /api/pair": {
    summary: "Use a pairing code",
    body: pairBody,
    answers: {
      201: json(z.union([shapes.tokenPair, shapes.browserPairing]), "The device's credential."),
      429: problem("Too many wrong codes."),
    },
  },
  "POST /api/token": {
    summary: "Trade a refresh token for the next pair",
    body: tokenBody,
    answers: { 200: json(shapes.tokenPair, "A new pair."), 401: problem("It ended or was used before.") },
  },
  "POST /api/tokens": {
    summary: "Make a long-lived token for a script",
    body: newTokenBody,
    answers: { 201: json(shapes.madeToken, "The token, this once.") },
  },
  "POST /api/ws-ticket": {
    summary: "A ticket for one WebSocket or event stream",
    description: "For `?ticket=`, where a browser cannot set headers. One use, 30 seconds.",
    answers: { 201: json(shapes.ticket, "The ticket.") },
  },
  "POST /api/logout": { summary: "Revoke the device that asks", answers: { 204: nothing("It is revoked.") } },
  "GET /api/devices": {
    summary: "Paired devices and tokens",
    description: "All of them with `admin`, else the one that asks.",
    answers: { 200: json(z.array(shapes.device), "Devices.") },
  },
  "PATCH /api/devices/:id": {
    summary: "Rename a device",
    description: "Its own, or any with `admin`.",
    path: [ID],
    body: deviceNameBody,
    answers: {
      204: nothing("It is renamed."),
      404: problem("There is none."),
      429: problem("It has renamed itself ten times in a minute."),
    },
  },
  "DELETE /api/devices/:id": {
    summary: "Revoke a device",
    description: "Its own, or any with `admin`. Its sockets close within a second (4401).",
    path: [ID],
    answers: { 204: nothing("It is revoked."), 404: problem("There is none.") },
  },
  "GET /api/audit": {
    summary: "Who did what from where",
    query: [
      inQuery("after", z.int().min(0), "Entries after this id, oldest first; absent: the newest."),
      inQuery("limit", z.int().min(0), "At most 1000; 100 when absent."),
    ],
    answers: { 200: json(shapes.auditPage, "Entries, oldest first.") },
  },
  "GET /api/diagnostics": {
    summary: "What acp-hub doctor finds, seen from the hub",
    query: [inQuery("only", z.string(), "Names of checks with commas between; none: no check.")],
    answers: { 200: json(shapes.diagnostics, "How discovery stands, and findings.") },
  },
  "GET /api/hub": {
    summary: "The hub about itself",
    answers: { 200: json(shapes.aboutHub, "Its version, who started it, whether it goes.") },
  },
  "POST /api/hub/successor": {
    summary: "Ask an older hub for its place",
    description: "On the local socket alone.",
    body: successorBody,
    answers: {
      202: json(z.object({ handOver: z.enum(["successor", "restart"]) }), "It goes."),
      409: problem("`not-newer`, `making-room`, `by-hand` or `supervised`."),
    },
  },
  "POST /api/tunnels": {
    summary: "Name a tunnel that leads here",
    description: "On the local socket alone. Renewed before the lease ends, or forgotten.",
    body: tunnel,
    answers: {
      201: json(z.object({ url: z.string(), leaseSeconds: z.number() }), "The hub answers for it."),
      429: problem("Too many tunnels."),
    },
  },
  "DELETE /api/tunnels": {
    summary: "Forget a tunnel",
    description: "On the local socket alone.",
    body: tunnel,
    answers: { 204: nothing("It is forgotten.") },
  },
  "GET /api/openapi.json": {
    summary: "This document",
    answers: { 200: json(z.looseObject({ openapi: z.string() }), "OpenAPI 3.1.") },
  },
};
