/**
 * Whose a request is, and in which scheme its client asked. What a proxy says of either (`X-Forwarded-For`, `X-Forwarded-Proto`)
 * counts only from proxies the configuration names (contract §3).
 */
import type { IncomingMessage } from "node:http";

const plain = (address: string): string => address.replace(/^::ffff:/, "");

const peerOf = (request: IncomingMessage): string => plain(request.socket.remoteAddress ?? "");

function entriesOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  return text.split(",").map((entry) => entry.trim());
}

export function clientAddress(request: IncomingMessage, trusted: readonly string[]): string {
  const peer = peerOf(request);
  if (!trusted.includes(peer)) return peer;
  const hops = entriesOf(request.headers["x-forwarded-for"]).map(plain);
  // From the right: what our own proxies added; the first one that is none of them is the client.
  for (const hop of hops.reverse()) if (hop !== "" && !trusted.includes(hop)) return hop;
  return peer;
}

/** True when a proxy of ours says that the client came by https. Of several, the first is what the client itself used. */
export function isProxiedTls(request: IncomingMessage, trusted: readonly string[]): boolean {
  if (!trusted.includes(peerOf(request))) return false;
  return entriesOf(request.headers["x-forwarded-proto"])[0]?.toLowerCase() === "https";
}
