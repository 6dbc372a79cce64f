/** Whose address a request comes from. `X-Forwarded-For` counts only from proxies the configuration names (contract §3). */
import type { IncomingMessage } from "node:http";

const plain = (address: string): string => address.replace(/^::ffff:/, "");

export function clientAddress(request: IncomingMessage, trusted: readonly string[]): string {
  const peer = plain(request.socket.remoteAddress ?? "");
  if (!trusted.includes(peer)) return peer;
  const header = request.headers["x-forwarded-for"];
  const hops = (Array.isArray(header) ? header.join(",") : (header ?? "")).split(",").map((hop) => plain(hop.trim()));
  // From the right: what our own proxies added; the first one that is none of them is the client.
  for (const hop of hops.reverse()) if (hop !== "" && !trusted.includes(hop)) return hop;
  return peer;
}
