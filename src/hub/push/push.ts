/** Web Push put together: key pair, subscriptions, the pipeline and what triggers it. */
import type { Devices } from "../../auth/devices.ts";
import type { Paths } from "../../config/paths.ts";
import type { Person } from "../../core/interaction/url-owner.ts";
import { deviceId } from "../../protocol/ids.ts";
import type { HubLog } from "../log.ts";
import { personOf } from "../principal.ts";
import { Pusher, webPushSender } from "./pusher.ts";
import { Subscriptions, vapidKeys } from "./subscriptions.ts";
import { PushTriggers } from "./triggers.ts";

export interface Push {
  readonly publicKey: string;
  readonly subscriptions: Subscriptions;
  readonly pusher: Pusher;
  readonly triggers: PushTriggers;
}

/** Rejects when the key pair cannot be written. A device that is revoked, now or while no hub ran, is told nothing more. */
export async function startPush(
  paths: Paths,
  publicUrl: string | undefined,
  log: HubLog,
  devices: Pick<Devices, "get" | "onRevoked">,
): Promise<Push> {
  const keys = await vapidKeys(paths.keysDir);
  const subscriptions = new Subscriptions(paths.dataDir);
  await subscriptions.load();
  const forget = (id: string): Promise<void> =>
    subscriptions.remove(id).catch((error: unknown) => log.error({ err: error }, "push subscription not removed"));
  for (const { deviceId: id } of subscriptions.list()) {
    const record = devices.get(deviceId(id));
    if (record === undefined || record.revokedAt !== undefined) await forget(id);
  }
  devices.onRevoked((id) => void forget(id));
  // Push services want somebody to ask: the hub's own address, or one that says it has none.
  const subject = publicUrl?.startsWith("https:") === true ? publicUrl : "mailto:acp-hub@localhost.invalid";
  const pusher = new Pusher(subscriptions, webPushSender(keys, subject), log);
  const whose = (id: string): Person | undefined => {
    const record = devices.get(deviceId(id));
    if (record === undefined || record.revokedAt !== undefined) return undefined;
    return personOf({ ...record, scopes: new Set(record.scopes) });
  };
  return { publicKey: keys.publicKey, subscriptions, pusher, triggers: new PushTriggers(pusher, whose) };
}
