/** What most tests of the rules begin with: one session that a phone has open, and the answers and the form they use. */
import type { JsonObject } from "../../../src/protocol/json.ts";
import type { RemoteClient } from "./remote-client.ts";
import { World, type WorldOptions } from "./world.ts";

export const selected = (optionId: string): JsonObject => ({ outcome: { outcome: "selected", optionId } });
export const CANCELLED: JsonObject = { outcome: { outcome: "cancelled" } };
export const FORM: JsonObject = {
  type: "object",
  properties: { color: { type: "string", enum: ["red", "green"] }, sure: { type: "boolean" } },
  required: ["color"],
};

export interface SharedWorld {
  readonly world: World;
  readonly session: string;
  readonly phone: RemoteClient;
}

/** `capabilities`: what the editor declares. */
export function shared(options: WorldOptions = {}, capabilities: JsonObject = {}): SharedWorld {
  const world = new World(options).start(capabilities);
  const session = world.newSession();
  const phone = world.remote({ extended: true, name: "phone" });
  world.load(phone, session);
  return { world, session, phone };
}
