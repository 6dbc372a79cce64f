/** The MCP servers a client brings, as ZCode takes them: its entries are ACP's, and strict. */
import { arrayAt, isObject, type Json, type JsonObject } from "../../../protocol/json.ts";
import type { Session } from "./session.ts";

/** The member of a create or resume; left out where there are none. */
export function mcpOf(session: Session): JsonObject {
  const { mcpServers } = session;
  return mcpServers === undefined || mcpServers.length === 0 ? {} : { mcpServers: mcpServers.map(plainServer) };
}

/** As ZCode takes it: a member more, and the session is not made at all. */
function plainServer(server: Json): Json {
  if (!isObject(server)) return server;
  const { _meta, ...plain } = server;
  for (const key of ["env", "headers"]) {
    const pairs = arrayAt(plain, key);
    if (pairs !== undefined) plain[key] = pairs.map((pair) => (isObject(pair) ? withoutMeta(pair) : pair));
  }
  // ACP has no type for these; some clients name it all the same.
  if (plain["type"] === "stdio") delete plain["type"];
  return plain;
}

function withoutMeta({ _meta, ...rest }: JsonObject): JsonObject {
  return rest;
}
