/** Push subscriptions by device, and the key pair the hub signs pushes with. Files of the home, 0600, replaced whole. */
import { isIP } from "node:net";
import { join } from "node:path";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import type { PushKind } from "../../protocol/push-preferences.ts";
import { PrivateFile } from "./private-file.ts";

export interface PushSubscriptionRecord {
  readonly deviceId: string;
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  readonly kinds: readonly PushKind[];
}

export interface VapidKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

const KINDS: ReadonlySet<string> = new Set<PushKind>(["needs-you", "turn-ended"]);
const isKind = (value: unknown): value is PushKind => typeof value === "string" && KINDS.has(value);
const SUBSCRIPTIONS_MAX = 256;

/** The hub's own key pair, made once: subscriptions are bound to it. */
export async function vapidKeys(keysDir: string): Promise<VapidKeys> {
  const file = new PrivateFile(join(keysDir, "vapid.json"));
  const known = await file.read();
  if (isObject(known)) {
    const [publicKey, privateKey] = [stringAt(known, "publicKey"), stringAt(known, "privateKey")];
    if (publicKey !== undefined && privateKey !== undefined) return { publicKey, privateKey };
  }
  const { default: webPush } = await import("web-push");
  const made = webPush.generateVAPIDKeys();
  await file.write(made);
  return made;
}

/** The hub dials what a device names here: only public names over https, so that nobody makes it knock on its own network. */
function isPushService(endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { protocol, hostname } = new URL(endpoint);
  const isName = isIP(hostname.replace(/^\[|\]$/g, "")) === 0 && hostname.includes(".");
  return protocol === "https:" && isName && !/\.(local|internal|localhost|lan|home)$/.test(hostname);
}

const bytesOf = (text: string): Buffer => Buffer.from(text, "base64url");
/** An uncompressed point, as every browser gives it. Whether it lies on the curve shows when it is used. */
const isPublicKey = (text: string | undefined): text is string =>
  text !== undefined && bytesOf(text).length === 65 && bytesOf(text)[0] === 4;
const isSecret = (text: string | undefined): text is string => text !== undefined && bytesOf(text).length === 16;

/** A subscription as browsers give it, or what is wrong with it. Only https endpoints: the hub dials what is named here. */
export function readSubscription(deviceId: string, body: JsonObject): PushSubscriptionRecord | string {
  const subscription = objectAt(body, "subscription");
  const endpoint = stringAt(subscription, "endpoint") ?? "";
  const [p256dh, auth] = [
    stringAt(objectAt(subscription, "keys"), "p256dh"),
    stringAt(objectAt(subscription, "keys"), "auth"),
  ];
  if (!isPushService(endpoint)) return '"subscription.endpoint" must be the https address of a push service';
  if (!isPublicKey(p256dh)) return '"subscription.keys.p256dh" must be a public key of the curve P-256';
  if (!isSecret(auth)) return '"subscription.keys.auth" must be a secret of 16 bytes';
  const kinds = arrayAt(body, "kinds")?.filter(isKind) ?? [...(KINDS as ReadonlySet<PushKind>)];
  return { deviceId, endpoint, keys: { p256dh, auth }, kinds };
}

export class Subscriptions {
  readonly #file: PrivateFile;
  #records: PushSubscriptionRecord[] = [];

  constructor(dataDir: string) {
    this.#file = new PrivateFile(join(dataDir, "push.json"));
  }

  async load(): Promise<void> {
    const kept = await this.#file.read();
    const records = Array.isArray(kept) ? kept.filter(isObject) : [];
    this.#records = records.flatMap((record) => {
      const read = readSubscription(stringAt(record, "deviceId") ?? "", {
        subscription: record,
        kinds: record["kinds"],
      });
      return typeof read === "string" ? [] : [read];
    });
  }

  list(): readonly PushSubscriptionRecord[] {
    return this.#records;
  }

  /** One per device: the newest counts. */
  async put(record: PushSubscriptionRecord): Promise<void> {
    const others = this.#records.filter((each) => each.deviceId !== record.deviceId);
    this.#records = [...others, record].slice(-SUBSCRIPTIONS_MAX);
    await this.#file.write(this.#records);
  }

  async remove(deviceId: string): Promise<void> {
    if (!this.#records.some((each) => each.deviceId === deviceId)) return;
    this.#records = this.#records.filter((each) => each.deviceId !== deviceId);
    await this.#file.write(this.#records);
  }
}
