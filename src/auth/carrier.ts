/** Reads where a request carries its credential (contract §2). Reads only: nothing is looked up or believed here. */
import { cookieValues } from "./grants/cookie-key.ts";

export interface CarrierRequest {
  readonly method: string | undefined;
  /** The request target, query included. */
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The client's address, behind trusted proxies already resolved. */
  readonly address: string;
}

export interface CarrierOptions {
  readonly cookieName: string;
  /** Headers external issuers' proxies use, lower case. */
  readonly issuerHeaders: readonly string[];
  /** True when `origin` is the hub's own, scheme, host and port. */
  isOwnOrigin(origin: string, host: string | undefined): boolean;
}

export interface Carrier {
  readonly method: string;
  readonly address: string;
  /** Of `Authorization: Bearer`. */
  readonly bearer: string | undefined;
  readonly tickets: readonly string[];
  readonly subprotocolTokens: readonly string[];
  readonly queryTokens: readonly string[];
  readonly issuerTokens: readonly string[];
  /** Values of the hub's own cookie. */
  readonly cookies: readonly string[];
  /** `X-Acp-Hub-Key`. */
  readonly key: string | undefined;
  readonly hasOrigin: boolean;
  /** True when the browser says that a page of the hub itself asks. */
  readonly isFromOwnPage: boolean;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
const BEARER_SUBPROTOCOL = "bearer.";
const HEADER_CHARS_MAX = 16_384;

type Headers = CarrierRequest["headers"];

/** A header sent twice is none: nobody can say which one counts. */
function header(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value.length <= HEADER_CHARS_MAX ? value : undefined;
}

/** Other schemes are for a proxy in front of us, not for the hub. */
const bearerOf = (headers: Headers): string | undefined =>
  /^bearer +([^\s,]+)$/i.exec(header(headers, "authorization")?.trim() ?? "")?.[1];

function subprotocolTokens(headers: Headers): string[] {
  const offered = (header(headers, "sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  return offered
    .filter((name) => name.startsWith(BEARER_SUBPROTOCOL))
    .map((name) => name.slice(BEARER_SUBPROTOCOL.length));
}

function queryOf(target: string | undefined): URLSearchParams {
  const at = target?.indexOf("?") ?? -1;
  return new URLSearchParams(target === undefined || at === -1 ? "" : target.slice(at + 1).split("#")[0]);
}

function originOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  return new URL(url).origin;
}

/**
 * Browsers send an Origin with everything but a GET or HEAD to the page's own site. There the fetch metadata says the same,
 * and over plain HTTP, where browsers leave that out too, the referrer does. A request with none of the three is refused.
 */
function isFromOwnPage(method: string, headers: Headers, options: CarrierOptions): boolean {
  const host = header(headers, "host");
  const origin = header(headers, "origin");
  if (headers["origin"] !== undefined) return origin !== undefined && options.isOwnOrigin(origin, host);
  if (!SAFE_METHODS.has(method)) return false;
  const site = header(headers, "sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const referrer = originOf(header(headers, "referer"));
  return referrer !== undefined && options.isOwnOrigin(referrer, host);
}

export function readCarrier(request: CarrierRequest, options: CarrierOptions): Carrier {
  const { headers, address } = request;
  const method = request.method ?? "GET";
  const query = queryOf(request.url);
  return {
    method,
    address,
    bearer: bearerOf(headers),
    tickets: query.getAll("ticket"),
    subprotocolTokens: subprotocolTokens(headers),
    queryTokens: query.getAll("token"),
    issuerTokens: options.issuerHeaders.flatMap((name) => header(headers, name) ?? []),
    cookies: cookieValues(header(headers, "cookie") ?? "", options.cookieName),
    key: header(headers, "x-acp-hub-key"),
    hasOrigin: headers["origin"] !== undefined,
    isFromOwnPage: isFromOwnPage(method, headers, options),
  };
}
