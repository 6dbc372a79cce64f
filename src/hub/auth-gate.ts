/** Lets `src/auth` answer the hub's question "who is it" for HTTP requests and upgrades. */
import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Auth } from "../auth/auth.ts";
import { type CarrierOptions, readCarrier } from "../auth/carrier.ts";
import { isAuthFailure } from "../auth/failures.ts";
import { cookieName } from "../auth/grants/cookie-key.ts";
import type { HubAuth } from "./hub.ts";
import type { Principal } from "./principal.ts";
import type { UpgradeRefusal } from "./upgrade.ts";

export interface AuthGatePorts {
  /** The network port: known once the hub listens. */
  port(): number;
  /** True for the origin of the hub's own pages, as the client of this request sees them. */
  isOwnOrigin(origin: string, host: string | undefined, request: IncomingMessage): boolean;
  /** The client's address, behind trusted proxies already resolved. */
  addressOf(request: IncomingMessage): string;
  /** A remote token was refused; the words say why. */
  onWeakToken(detail: string): void;
}

export function authGate(auth: Auth, ports: AuthGatePorts): HubAuth {
  const optionsFor = (request: IncomingMessage): CarrierOptions => ({
    cookieName: cookieName(ports.port()),
    issuerHeaders: auth.issuerHeaders,
    isOwnOrigin: (origin, host) => ports.isOwnOrigin(origin, host, request),
  });
  const authenticate = async (request: IncomingMessage): Promise<Principal | UpgradeRefusal> => {
    const { method, url, headers } = request;
    const carrier = readCarrier({ method, url, headers, address: ports.addressOf(request) }, optionsFor(request));
    const answer = await auth.authenticate(carrier);
    return isAuthFailure(answer) ? answer : { ...answer, scopes: answer.scopes };
  };
  return {
    authenticateHttp: (request: FastifyRequest) => authenticate(request.raw),
    authenticateUpgrade: (request: IncomingMessage) => authenticate(request),
    onRevoked: (listener) => auth.onRevoked(listener),
    onScopesChanged: (listener) => auth.devices.onScopesChanged((id, scopes) => listener(id, new Set(scopes))),
    adoptRemoteToken: (token) => {
      const adopted = auth.adoptRemoteToken(token);
      if (isAuthFailure(adopted)) ports.onWeakToken(adopted.detail);
    },
  };
}
