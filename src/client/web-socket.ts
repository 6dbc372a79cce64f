/** Makes a `SocketFactory` of a WebSocket constructor: the browser's, Node's own or that of the `ws` package. */
import type { Socket, SocketClose, SocketFactory, SocketHandlers } from "./ports.ts";

interface MessageLike {
  readonly data: unknown;
}

interface CloseLike {
  readonly code: number;
  readonly reason: string;
}

/** The part of the WebSocket interface that is used. `ws` fits as it is. */
export interface WebSocketLike {
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(code?: number, reason?: string): void;
}

export type WebSocketConstructor = new (url: string, protocols?: string[]) => WebSocketLike;

const OPEN = 1;

export const webSocketFactory =
  (Implementation: WebSocketConstructor): SocketFactory =>
  (url, protocols, handlers) =>
    overWebSocket(new Implementation(url, [...protocols]), handlers);

/** A socket that somebody made, open by now or not; nobody has listened to it. */
export function overWebSocket(socket: WebSocketLike, handlers: SocketHandlers): Socket {
  let isDone = false;
  const finish = (close: SocketClose): void => {
    if (isDone) return;
    isDone = true;
    handlers.onClose(close);
  };
  const open = (): void => {
    if (!isDone) handlers.onOpen();
  };
  // Not in this call: its owner does not have it yet.
  if (socket.readyState === OPEN) queueMicrotask(open);
  else socket.onopen = open;
  socket.onmessage = (event: MessageLike) => {
    if (!isDone && typeof event.data === "string") handlers.onText(event.data);
  };
  socket.onclose = (event: CloseLike) => finish({ code: event.code, reason: event.reason });
  // A close always follows an error; without a handler the `ws` package would throw.
  socket.onerror = () => undefined;
  return {
    send: (text) => {
      if (socket.readyState === OPEN) socket.send(text);
    },
    close: (code, reason) => {
      // The owner does not wait for the peer's close frame: a dead peer never sends one.
      finish({ code, reason });
      socket.close(code, reason);
    },
  };
}
