/**
 * The first two checks on every route and upgrade (contract §3): the Host allow-list against DNS rebinding, the Origin allow-list
 * against other web pages. What is allowed is computed once, from where the hub listens; only tunnels and the machine's own
 * addresses come and go.
 */
import type { IncomingMessage } from "node:http";
import { hostname, networkInterfaces } from "node:os";
import { clientAddress, isProxiedTls } from "./client-address.ts";
import { bracketed, isEveryAddress } from "./local-url.ts";
import { TunnelNames } from "./tunnel-names.ts";

export interface EdgeConfig {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly publicUrl?: string | undefined;
  /** `http.hosts`: further names. */
  readonly hosts?: readonly string[];
  /** `http.origins`: other origins, exact. */
  readonly origins?: readonly string[];
  /** Proxies whose word on the client counts. */
  readonly trustedProxies?: readonly string[];
  /** Addresses that come and go while the hub runs. */
  readonly tunnels?: TunnelNames;
  /** This machine's addresses now; for tests. */
  readonly addresses?: () => readonly string[];
}

export interface Edge {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly publicOrigin: string | undefined;
  readonly tunnels: TunnelNames;
  /** True when the machine has this address now: a laptop changes networks while its hub runs. */
  hasAddress(name: string): boolean;
  /** The client's address, behind trusted proxies already resolved. */
  addressOf(request: IncomingMessage): string;
  /** True when the client asked by https: of the hub itself, or of a trusted proxy. */
  isHttps(request: IncomingMessage): boolean;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

export const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\./.test(host);

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((info) => info.address));

/** The IPv4 addresses other machines reach this one by. */
export const lanAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter((info) => !info.internal && info.family === "IPv4").map((info) => info.address),
  );

/** Names and addresses this machine is reached by when it listens beyond loopback. */
function lanNames(config: EdgeConfig): string[] {
  if (isLoopback(config.host)) return [];
  if (!isEveryAddress(config.host)) return [bracketed(config.host)];
  const addresses = (config.addresses ?? ownAddresses)().map(bracketed);
  const name = hostname().toLowerCase();
  return [...addresses, name, name.endsWith(".local") ? name : `${name}.local`];
}

/** Names a client may ask for: what a certificate has to be good for, too. Addresses of version 6 without brackets. */
export function allowedNames(config: EdgeConfig): string[] {
  return [...makeEdge(config).hosts].map((name) => name.replace(/^\[|\]$/g, ""));
}

export function makeEdge(config: EdgeConfig): Edge {
  const proxies = config.trustedProxies ?? [];
  const publicUrl = config.publicUrl === undefined ? undefined : new URL(config.publicUrl);
  const names = [
    ...LOOPBACK,
    ...lanNames(config),
    ...(config.hosts ?? []),
    ...(publicUrl === undefined ? [] : [publicUrl.hostname]),
  ];
  return {
    hosts: new Set(names.map((name) => name.toLowerCase())),
    origins: new Set(config.origins ?? []),
    publicOrigin: publicUrl?.origin,
    tunnels: config.tunnels ?? new TunnelNames(),
    hasAddress: (name) =>
      isEveryAddress(config.host) && (config.addresses ?? ownAddresses)().map(bracketed).includes(name),
    addressOf: (request) => clientAddress(request, proxies),
    isHttps: (request) => config.isTls || isProxiedTls(request, proxies),
  };
}

export type EdgeVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly status: 400 | 403; readonly detail: string };

const refuse = (status: 400 | 403, detail: string): EdgeVerdict => ({ ok: false, status, detail });

/** The name part of a Host header, lower case; undefined when it is none. */
export function hostName(header: string | undefined): string | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/.exec(header ?? "");
  return match?.[1]?.toLowerCase();
}

/** The Host header when there is exactly one: of two, a proxy in front may have believed the other. */
export function hostHeaderOf(request: IncomingMessage): string | undefined {
  const all = request.headersDistinct["host"];
  return all?.length === 1 ? all[0] : undefined;
}

/** Where the client believes the hub to be. */
export interface AskedAt {
  /** The Host header, with the port. */
  readonly host: string | undefined;
  readonly isHttps: boolean;
}

export const askedAt = (edge: Edge, request: IncomingMessage): AskedAt => ({
  host: hostHeaderOf(request),
  isHttps: edge.isHttps(request),
});

/** Names are checked, not ports: a tunnel may map those. */
export function checkHost(edge: Edge, header: string | undefined): EdgeVerdict {
  const name = hostName(header);
  if (name === undefined) return refuse(400, "The Host header is missing or malformed");
  if (edge.hosts.has(name) || edge.tunnels.hasHost(name) || edge.hasAddress(name)) return { ok: true };
  return refuse(403, `This hub does not answer for the host "${name}": add it to http.hosts, or set publicUrl`);
}

/** True when the request comes from the hub's own pages: same scheme, host and port. */
export function isOwnOrigin(edge: Edge, origin: string, { host, isHttps }: AskedAt): boolean {
  if (origin === edge.publicOrigin || edge.tunnels.hasOrigin(origin)) return true;
  return origin === `${isHttps ? "https" : "http"}://${host ?? ""}`;
}

/** A request without Origin is no browser's cross-site one; whether that is enough is for the credential to say. */
export function checkOrigin(edge: Edge, origin: string | undefined, askedAt: AskedAt): EdgeVerdict {
  if (origin === undefined || isOwnOrigin(edge, origin, askedAt) || edge.origins.has(origin)) return { ok: true };
  return refuse(403, "This origin may not use the hub: add it to http.origins, exactly as the browser sends it");
}
