/**
 * The WebSocket upgrade on `/acp` (contract §4): every check before the handshake, every refusal a real HTTP status. Our own
 * handler over `ws`, because the outbox writes to the upgrade's socket itself.
 */
import { randomUUID } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Limits } from "../config/config.ts";
import { connectionId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/scopes.ts";
import { takesCompressed } from "../transport/ws-compression.ts";
import { ClientSocket, type ClientSocketEvents, type Route } from "./client-socket.ts";
import { askedAt, checkHost, checkOrigin, type Edge } from "./edge.ts";
import type { Principal } from "./principal.ts";
import type { Sockets } from "./sockets.ts";

export interface UpgradeRefusal {
  readonly status: 400 | 401 | 403 | 404 | 429 | 503;
  readonly detail: string;
  readonly retryAfterSeconds?: number;
}

export type RouteChoice = { readonly route: Route } | UpgradeRefusal;

export interface UpgradePorts {
  readonly edge: Edge;
  readonly sockets: Sockets;
  readonly limits: Limits;
  /** Milliseconds that only grow. */
  monotonic(): number;
  readonly basePath: string;
  /** The local socket: no Host and no Origin to check. */
  readonly isLocal: boolean;
  /** `http.compression`: clients that offer permessage-deflate get large frames compressed. */
  readonly compresses: boolean;
  /** Who it is, or why not. Never throws. */
  authenticate(request: IncomingMessage, url: URL): Promise<Principal | UpgradeRefusal>;
  /** Where its messages go. */
  route(url: URL, principal: Principal): RouteChoice;
  onRefused(refusal: UpgradeRefusal, address: string): void;
  /** A socket that was open has closed. */
  onClosed(code: number): void;
}

const EXTENSIONS = "Sec-WebSocket-Extensions: ";

/** Requests and answers to `session/list` and the like: more than this is nothing a reader has to say. */
const READER_FRAME_BYTES = 65_536;

/**
 * The largest message of a client with these rights. What has begun to arrive is kept until it is whole, and a request until it is
 * answered: who may not prompt has no pictures to send, and who may only read has no answers to write.
 */
export function frameBytesMax(scopes: ReadonlySet<Scope>, limits: Limits): number {
  if (scopes.has("sessions:prompt")) return limits.remoteFrameBytes;
  const wanted = scopes.has("interactions:answer") ? limits.bodyBytes : READER_FRAME_BYTES;
  return Math.min(wanted, limits.remoteFrameBytes);
}

const isRefusal = (value: object): value is UpgradeRefusal => "status" in value;

/** `acp` by preference, else another offered name; the credential's own only when it stands alone (browsers need an echo). */
export function chooseProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has("acp")) return "acp";
  for (const name of offered) if (!name.startsWith("bearer.")) return name;
  const [only] = offered;
  return only ?? false;
}

export class Upgrades {
  readonly #ports: UpgradePorts;
  /** By the largest message they take. */
  readonly #servers = new Map<number, WebSocketServer>();
  readonly #ids = new WeakMap<IncomingMessage, string>();
  /** Requests whose handshake agreed on compressed frames. */
  readonly #compressing = new WeakSet<IncomingMessage>();

  constructor(ports: UpgradePorts) {
    this.#ports = ports;
  }

  /** For the server's `upgrade` event. */
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    void this.#handle(request, socket, head).catch(() =>
      refuseUpgrade(socket, { status: 503, detail: "The hub cannot take this right now" }),
    );
  }

  #serverFor(maxPayload: number): WebSocketServer {
    const known = this.#servers.get(maxPayload);
    if (known !== undefined) return known;
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // Only negotiated and read by the library, and without context both ways: it never sends a message of its own. Its own
      // compressing costs 40–70 times the CPU and is asynchronous, which our frames could not interleave with.
      perMessageDeflate: this.#ports.compresses
        ? { serverNoContextTakeover: true, clientNoContextTakeover: true }
        : false,
      maxPayload,
      handleProtocols: chooseProtocol,
    });
    server.on("headers", (headers, request) => {
      const agreed = headers.find((header) => header.startsWith(EXTENSIONS));
      if (takesCompressed(agreed?.slice(EXTENSIONS.length))) this.#compressing.add(request);
      headers.push(`Acp-Connection-Id: ${this.#ids.get(request) ?? ""}`);
    });
    // `ws` itself refuses what is no WebSocket handshake; those are 400s of its own.
    server.on("wsClientError", (error, socket) => {
      refuseUpgrade(socket, { status: 400, detail: error.message });
    });
    this.#servers.set(maxPayload, server);
    return server;
  }

  async #handle(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = this.#ports.edge.addressOf(request);
    const refuse = (refusal: UpgradeRefusal): void => {
      this.#ports.onRefused(refusal, address);
      refuseUpgrade(socket, refusal);
    };
    const url = parseUrl(request.url);
    if (url === undefined) return refuse({ status: 400, detail: "The request target is malformed" });
    const { edge, isLocal } = this.#ports;
    const at = askedAt(edge, request);
    const checks = [checkHost(edge, at.host), checkOrigin(edge, request.headers.origin, at)];
    for (const verdict of isLocal ? [] : checks) if (!verdict.ok) return refuse(verdict);
    if (url.pathname !== `${this.#ports.basePath}/acp`)
      return refuse({ status: 404, detail: "There is no WebSocket here: use /acp" });
    const principal = await this.#ports.authenticate(request, url);
    if (isRefusal(principal)) return refuse(principal);
    if (!principal.scopes.has("sessions:read"))
      return refuse({ status: 403, detail: "This credential lacks sessions:read" });
    const full = this.#ports.sockets.refusal(principal.deviceId);
    if (full !== undefined) return refuse({ status: full, detail: "Too many connections", retryAfterSeconds: 5 });
    const choice = this.#ports.route(url, principal);
    if (isRefusal(choice)) return refuse(choice);
    if (socket.destroyed) return undefined;
    return this.#accept(request, socket, head, principal, choice.route, url);
  }

  #accept(request: IncomingMessage, socket: Duplex, head: Buffer, principal: Principal, route: Route, url: URL): void {
    const id = connectionId(`c_${randomUUID()}`);
    const pinned = url.searchParams.get("session");
    this.#ids.set(request, id);
    const bytesMax = frameBytesMax(principal.scopes, this.#ports.limits);
    this.#serverFor(bytesMax).handleUpgrade(request, socket, head, (ws) => {
      const seed = {
        id,
        device: principal.deviceId,
        name: principal.name,
        scopes: principal.scopes,
        isExternal: principal.kind === "external",
        frameBytesMax: bytesMax,
        ...(pinned !== null && { pinnedSession: pinned }),
      };
      const events = this.#eventsOf(this.#compressing.has(request));
      this.#ports.sockets.add(new ClientSocket(ws, socket, seed, route, events, principal.expiresAt));
    });
  }

  /** Apart from the handshake: a closure made there would keep the request, and the credential in it, as long as the socket. */
  #eventsOf(takesCompressed: boolean): ClientSocketEvents {
    const ports = this.#ports;
    return {
      limits: ports.limits,
      turns: ports.sockets.turns,
      takesCompressed,
      openedAt: ports.monotonic(),
      onClosed: (closed, code) => {
        ports.sockets.delete(closed);
        ports.onClosed(code);
      },
    };
  }
}

function parseUrl(target: string | undefined): URL | undefined {
  try {
    return new URL(target ?? "/", "http://hub.invalid");
  } catch {
    return undefined;
  }
}

/** A refused upgrade is an ordinary HTTP response: a bare close would leave clients hanging. */
export function refuseUpgrade(socket: Duplex, refusal: UpgradeRefusal): void {
  if (socket.destroyed || !socket.writable) return;
  const { status, detail, retryAfterSeconds } = refusal;
  const body = JSON.stringify({ type: "about:blank", title: STATUS_CODES[status], status, detail });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Connection: close",
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status === 401 ? ['WWW-Authenticate: Bearer realm="acp-hub"'] : []),
    ...(retryAfterSeconds === undefined ? [] : [`Retry-After: ${retryAfterSeconds}`]),
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  socket.once("finish", () => socket.destroy());
}
