/** Who reads a session, to those who read it and understand it (contract §4). */
import { notification } from "../../protocol/envelope.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import type { Json } from "../../protocol/json.ts";
import type { MirrorSession } from "./session.ts";

/** Listed by name; beyond that only counted, so that a crowd costs each of its members no more than this. */
const LISTED_MAX = 32;

export function tellPresence<Encoded>(session: MirrorSession<Encoded>): void {
  const readers = [...session.attached];
  if (!readers.some((connection) => connection.abilities.isExtended)) return;
  const clients: Json = readers.slice(0, LISTED_MAX).map((connection) => ({
    connectionId: connection.id,
    device: connection.device,
    name: connection.name,
    client: connection.clientInfo ?? null,
  }));
  const text = JSON.stringify(notification(HUB.presence, { sessionId: session.id, clients, count: readers.length }));
  for (const connection of readers) if (connection.abilities.isExtended) connection.outbox.send(text, session.feed);
}
