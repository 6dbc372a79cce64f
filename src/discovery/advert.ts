/**
 * What a hub says about itself on the network (contract §5), as DNS-SD TXT strings and back. What comes from the network is
 * judged here: anybody on a LAN can answer, and what is found ends up in a terminal and in a URL.
 */
import { isIP } from "node:net";

export const SERVICE_TYPE = "_acp-hub._tcp.local";

/** Never secrets, never workspace names. */
export interface HubAdvert {
  /** The same over restarts; opaque. */
  readonly id: string;
  /** What people see; made unique on the network where it is taken. */
  readonly name: string;
  readonly version: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Base path, `""` or `/hub`. */
  readonly path: string;
  /** Of the hub's signing key: a client that paired once knows the hub by it. */
  readonly fingerprint: string;
}

export interface FoundHub extends HubAdvert {
  /** The target of its SRV record. */
  readonly host: string;
  /** IPv4 first. */
  readonly addresses: readonly string[];
  /** Where to reach it, best first. */
  readonly urls: readonly string[];
  readonly isAuthRequired: boolean;
}

/** A DNS label holds 63 bytes; some are kept for " (12)". */
const NAME_BYTES = 56;
const TXT_BYTES = 255;
const PATH = /^(?:\/[A-Za-z0-9._~-]+)*$/;
const ID = /^[A-Za-z0-9._:+/=-]{1,128}$/;

/** As a DNS label: no dots (browsers split at them), no control characters, within the bound, cut between characters. */
export function serviceLabel(name: string): string {
  let label = "";
  for (const char of printable(name).replaceAll(".", "-").trim()) {
    if (Buffer.byteLength(label + char) > NAME_BYTES) break;
    label += char;
  }
  return label === "" ? "acp-hub" : label;
}

/** The hub's own host name: the machine's belongs to the system's responder, which must not find a second owner of it. */
export const advertHost = (id: string): string => {
  const label = id
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "")
    .slice(0, 16);
  return `acp-hub-${label === "" ? "0" : label}.local`;
};

export function encodeTxt(advert: HubAdvert): string[] {
  const pairs = [
    ["id", advert.id],
    ["version", advert.version],
    ["tls", advert.isTls ? "1" : "0"],
    ["path", advert.path],
    ["fp", advert.fingerprint],
    ["auth", "required"],
  ];
  return pairs.map(([key, value]) => `${key}=${value}`).filter((text) => Buffer.byteLength(text) <= TXT_BYTES);
}

export interface Found {
  readonly label: string;
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
  readonly txt: readonly string[];
}

/** Undefined when it is no hub we could dial. */
export function readFound(found: Found): FoundHub | undefined {
  const values = new Map<string, string>();
  for (const text of found.txt) {
    const equals = text.indexOf("=");
    const key = text.slice(0, equals).toLowerCase();
    // The first of a repeated key counts (RFC 6763 §6.4).
    if (equals > 0 && !values.has(key)) values.set(key, text.slice(equals + 1));
  }
  const id = values.get("id") ?? "";
  const path = values.get("path") ?? "";
  if (!ID.test(id) || !PATH.test(path) || !Number.isInteger(found.port) || found.port < 1) return undefined;
  const addresses = [...new Set(found.addresses)].filter(canDial).sort(byFamily);
  const isTls = values.get("tls") === "1";
  const urls = addresses.map((address) => urlOf(isTls, address, found.port, path));
  return {
    id,
    name: printable(found.label),
    version: printable(values.get("version") ?? "unknown"),
    port: found.port,
    isTls,
    path,
    fingerprint: printable(values.get("fp") ?? ""),
    host: printable(found.host),
    addresses,
    urls,
    isAuthRequired: values.get("auth") === "required",
  };
}

/** A link-local IPv6 address means nothing without the interface it was heard on. */
const canDial = (address: string): boolean => isIP(address) !== 0 && !/^fe80:/i.test(address);

const byFamily = (a: string, b: string): number => isIP(a) - isIP(b) || a.localeCompare(b);

function urlOf(isTls: boolean, address: string, port: number, path: string): string {
  const host = isIP(address) === 6 ? `[${address}]` : address;
  return `${isTls ? "https" : "http"}://${host}:${port}${path}`;
}

/** Terminal escapes and text that reorders its neighbours do not come in from the network. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "");
}
