/** Web Push put together: key pair, subscriptions, wishes, the pipeline and what triggers it. */
import type { Devices } from "../../auth/devices.ts";
import type { Paths } from "../../config/paths.ts";
import type { Person } from "../../core/interaction/url-owner.ts";
import { deviceId } from "../../protocol/ids.ts";
import type { HubLog } from "../log.ts";
import { personOf } from "../principal.ts";
import { PreferenceStore } from "./preferences.ts";
import { Pusher } from "./pusher.ts";
import { SeenSessions } from "./seen.ts";
import { webPushSender } from "./sender.ts";
import { Subscriptions, vapidKeys } from "./subscriptions.ts";
import { PushTriggers } from "./triggers.ts";

export interface Push {
  readonly publicKey: string;
  readonly subscriptions: Subscriptions;
  readonly preferences: PreferenceStore;
  readonly seen: SeenSessions;
  readonly pusher: Pusher;
  readonly triggers: PushTriggers;
  /** Lets go of every timer; what waits for another try is given up. */
  stop(): void;
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
  const preferences = new PreferenceStore(paths.dataDir);
  const seen = new SeenSessions();
  await Promise.all([subscriptions.load(), preferences.load()]);
  const forget = async (id: string): Promise<void> => {
    seen.set(id, undefined);
    await Promise.all([subscriptions.remove(id), preferences.remove(id)]).catch((error: unknown) =>
      log.error({ err: error }, "push subscription not removed"),
    );
  };
  const known = new Set([...subscriptions.list().map((each) => each.deviceId), ...preferences.devices()]);
  for (const id of known) {
    const record = devices.get(deviceId(id));
    if (record === undefined || record.revokedAt !== undefined) await forget(id);
  }
  devices.onRevoked((id) => void forget(id));
  // Push services want somebody to ask: the hub's own address, or one that says it has none.
  const subject = publicUrl?.startsWith("https:") === true ? publicUrl : "mailto:acp-hub@localhost.invalid";
  const pusher = new Pusher({ subscriptions, preferences, send: webPushSender(keys, subject), log });
  const whose = (id: string): Person | undefined => {
    const record = devices.get(deviceId(id));
    if (record === undefined || record.revokedAt !== undefined) return undefined;
    return personOf({ ...record, scopes: new Set(record.scopes) });
  };
  const triggers = new PushTriggers({ pusher, seen, personOf: whose });
  const stop = (): void => {
    triggers.stop();
    pusher.stop();
  };
  return { publicKey: keys.publicKey, subscriptions, preferences, seen, pusher, triggers, stop };
}
