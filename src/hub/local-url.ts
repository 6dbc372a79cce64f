/** How an address is written where a person reads or opens it. */
import { hostname } from "node:os";

const bare = (host: string): string => host.replace(/^\[|\]$/g, "");

/** True for what means every address of this machine. */
export const isEveryAddress = (host: string): boolean => host === "0.0.0.0" || bare(host) === "::";

/** An address of version 6 in brackets: its colons are not those of the port. */
export const bracketed = (host: string): string => (bare(host).includes(":") ? `[${bare(host)}]` : host);

export const hostAndPort = (host: string, port: number): string => `${bracketed(host)}:${port}`;

/** The address to print: one a person can open on this computer. */
export function localUrl(host: string, port: number, basePath: string, isTls: boolean): string {
  const name = isEveryAddress(host) ? "127.0.0.1" : host;
  return `${isTls ? "https" : "http"}://${hostAndPort(name, port)}${basePath}`;
}

/** The address a phone on the network opens: the machine's mDNS name when the hub is bound to everything. */
export function lanUrl(host: string, port: number, basePath: string, isTls: boolean): string {
  const name = hostname().toLowerCase();
  const own = name.endsWith(".local") ? name : `${name}.local`;
  return localUrl(isEveryAddress(host) ? own : host, port, basePath, isTls);
}
