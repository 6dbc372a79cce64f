/** Where and how a client of a hub dials: the address of `/acp` with a fresh ticket, or with a bearer subprotocol. */

import { ApiError } from "./api/http.ts";
import type { HubApi } from "./api/hub-api.ts";
import { DialRefused, type DialTarget } from "./connection.ts";

/** `http://host/base/` → `ws://host/base/acp`, with query members. */
export function socketUrl(baseUrl: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const words = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const search = words.length === 0 ? "" : `?${new URLSearchParams(words).toString()}`;
  return `${baseUrl.replace(/^http/, "ws")}acp${search}`;
}

/** For the hub's own app: a ticket per dial. A refused ticket means the credential is gone. */
export function ticketDial(api: HubApi, instance?: string): () => Promise<DialTarget> {
  return async () => {
    try {
      return { url: socketUrl(api.http.baseUrl, { instance, ticket: await api.ticket() }), protocols: ["acp"] };
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
        throw new DialRefused(error.message, { cause: error });
      }
      throw error;
    }
  };
}

/** For programs: the token as a subprotocol, so that it reaches no log. */
export function bearerDial(baseUrl: string, token: () => string, instance?: string): () => Promise<DialTarget> {
  return () => Promise.resolve({ url: socketUrl(baseUrl, { instance }), protocols: ["acp", `bearer.${token()}`] });
}
