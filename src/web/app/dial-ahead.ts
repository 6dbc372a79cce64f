/**
 * Dials before there is a client. On a mobile network a ticket and a socket take as long as half of the program does, so a page
 * that opens on a session asks for them while the program is on its way. Whatever goes wrong here is found again, and told, by
 * the client's own dial.
 */
import type { DialTarget, Fetch, Socket, SocketFactory, SocketHandlers, WebSocketLike } from "../../client/index.ts";
import { KEY_HEADER } from "../../protocol/key-header.ts";

export interface OpenedSocket extends WebSocketLike {
  readonly url: string;
}

/** A socket nobody listens to yet; undefined when there is none to be had. */
export type AheadSocket = Promise<OpenedSocket | undefined>;

export interface Surroundings {
  readonly fetch: Fetch;
  readonly WebSocket: new (url: string, protocols: string[]) => OpenedSocket;
}

const PROTOCOLS = ["acp"];

export async function dialAhead(baseUrl: string, key: string, { fetch, WebSocket }: Surroundings): AheadSocket {
  try {
    const response = await fetch(`${baseUrl}api/ws-ticket`, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/json", [KEY_HEADER]: key },
      body: "{}",
      credentials: "same-origin",
      cache: "no-store",
    });
    if (!response.ok) return undefined;
    const { ticket } = (await response.json()) as { readonly ticket?: unknown };
    if (typeof ticket !== "string") return undefined;
    return new WebSocket(`${baseUrl.replace(/^http/, "ws")}acp?ticket=${encodeURIComponent(ticket)}`, [...PROTOCOLS]);
  } catch {
    return undefined;
  }
}

export interface Dialing {
  readonly dial: () => Promise<DialTarget>;
  readonly openSocket: SocketFactory;
}

/** The first dial takes the socket that was made ahead, if it still lives; every other one goes its usual way. */
export function dialingWith(
  ahead: AheadSocket,
  adopt: (socket: WebSocketLike, handlers: SocketHandlers) => Socket,
  usual: Dialing,
): Dialing {
  let coming: AheadSocket | undefined = ahead;
  let ready: OpenedSocket | undefined;
  return {
    dial: async () => {
      const socket = await coming;
      coming = undefined;
      if (socket === undefined || socket.readyState > OPEN) return usual.dial();
      ready = socket;
      return { url: socket.url, protocols: PROTOCOLS };
    },
    openSocket: (url, protocols, handlers) => {
      const socket = ready;
      ready = undefined;
      if (socket?.url === url) return adopt(socket, handlers);
      // A dial that was given up meanwhile.
      socket?.close();
      return usual.openSocket(url, protocols, handlers);
    },
  };
}

/** Of the states of a socket; those after it are ends. */
const OPEN = 1;
