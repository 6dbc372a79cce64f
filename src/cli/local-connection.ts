/** A connection to the hub of this computer over its local socket, as the owner; it reconnects by itself. */
import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import { Connection } from "../client/connection.ts";
import { systemClock } from "../client/ports.ts";
import { type WebSocketConstructor, webSocketFactory } from "../client/web-socket.ts";
import type { Paths } from "../config/paths.ts";
import type { JsonObject } from "../protocol/json.ts";
import { VERSION } from "../protocol/version.ts";

/** `capabilities`: what this client can show; by default nothing but the hub's own notices. */
export function localConnection(paths: Paths, capabilities: JsonObject = { _meta: { "acp-hub": {} } }): Connection {
  return new Connection({
    dial: () => Promise.resolve({ url: `ws+unix://${paths.apiSocket}:/acp`, protocols: ["acp"] }),
    openSocket: webSocketFactory(WebSocket as unknown as WebSocketConstructor),
    clock: systemClock,
    clientInfo: { name: "acp-hub", title: "acp-hub CLI", version: VERSION },
    capabilities,
  });
}

export const newId = (): string => randomUUID();
