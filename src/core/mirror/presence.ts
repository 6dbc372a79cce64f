/** Who is attached to a session, the editor first, to those who read it and understand it, the editor among them (contract §4). */
import { notification } from "../../protocol/envelope.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import { PRIMARY } from "../../protocol/meta.ts";
import { publicClientInfo } from "../client-info.ts";
import type { MirrorContext } from "./context.ts";
import type { MirrorSession } from "./session.ts";

/** Listed by name; beyond that only counted, so that a crowd costs each of its members no more than this. */
const LISTED_MAX = 32;

export function tellPresence<Encoded>(context: MirrorContext<Encoded>, session: MirrorSession<Encoded>): void {
  const readers = [...session.attached];
  const isForEditor = session.info.primary === true && context.primary?.extended === true;
  if (!isForEditor && !readers.some((connection) => connection.abilities.isExtended)) return;
  const editor = session.info.primary === true ? [editorEntry(context)] : [];
  const listed = readers.slice(0, LISTED_MAX - editor.length).map((connection) => ({
    connectionId: connection.id,
    device: connection.device,
    name: connection.name,
    client: publicClientInfo(connection.clientInfo),
  }));
  const clients: Json = [...editor, ...listed];
  const count = editor.length + readers.length;
  const params = { sessionId: session.id, clients, count };
  if (isForEditor) context.notifyLink(LINK.presence, params);
  const text = JSON.stringify(notification(HUB.presence, params));
  for (const connection of readers) if (connection.abilities.isExtended) connection.outbox.send(text, session.feed);
}

function editorEntry<Encoded>({ primary }: MirrorContext<Encoded>): JsonObject {
  return {
    connectionId: PRIMARY,
    device: PRIMARY,
    name: primary?.name ?? "editor",
    client: publicClientInfo(primary?.client),
    primary: true,
  };
}
