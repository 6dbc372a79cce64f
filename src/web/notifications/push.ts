/** Web Push on this device: what it needs, and turning it on. */
import type { HubApi } from "../../client/index.ts";
import { isObject } from "../../protocol/json.ts";

export type CheckState = "ok" | "bad" | "open";

export interface Check {
  readonly name: string;
  readonly state: CheckState;
  /** What to do when it is not ok. */
  readonly help: string | undefined;
}

export interface PushState {
  readonly checks: readonly Check[];
  readonly isSubscribed: boolean;
  /** True when everything a person cannot change by one tap is given. */
  readonly canSubscribe: boolean;
}

/** An iPad says that it is a Mac; no Mac has a screen for fingers. */
const isApple = (): boolean =>
  /iPhone|iPad/.test(navigator.userAgent) || (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);
const isInstalled = (): boolean => window.matchMedia("(display-mode: standalone)").matches;

export async function readPushState(api: HubApi): Promise<PushState> {
  const hasKey = (await api.push.key().catch(() => undefined)) !== undefined;
  const subscription = await currentSubscription();
  const permission = "Notification" in window ? Notification.permission : "denied";
  const hasPush = "serviceWorker" in navigator && "PushManager" in window;
  const needsInstall = isApple() && !isInstalled();
  const checks: Check[] = [
    check(
      "Secure page (HTTPS, or this computer)",
      window.isSecureContext,
      "Browsers push only to pages over HTTPS. Use Tailscale Serve, a tunnel or your own certificate.",
    ),
    // Others push to a tab as well: of them it would say nothing.
    ...(isApple()
      ? [check("Installed as an app", !needsInstall, "Share, then Add to Home Screen, then open it from there.")]
      : []),
    check("This browser can push", hasPush, "This browser has no Web Push, or only over HTTPS."),
    check("The hub can push", hasKey, "This hub sends no pushes. Update it, or look into its log."),
    { name: "Allowed by you", ...permissionCheck(permission) },
    { name: "Subscribed", state: subscription === undefined ? "open" : "ok", help: undefined },
  ];
  const canSubscribe = window.isSecureContext && hasPush && hasKey && !needsInstall && permission !== "denied";
  return { checks, isSubscribed: subscription !== undefined, canSubscribe };
}

export async function subscribe(api: HubApi, kinds: readonly string[]): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted")
    throw new Error("The browser did not allow notifications");
  const key = await api.push.key();
  if (key === undefined) throw new Error("This hub sends no pushes");
  const registration = await navigator.serviceWorker.ready;
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const json: unknown = JSON.parse(JSON.stringify(subscription));
  await api.push.subscribe(isObject(json) ? json : {}, kinds);
}

export async function unsubscribe(api: HubApi): Promise<void> {
  await api.push.unsubscribe();
  await (await currentSubscription())?.unsubscribe();
}

/** Changes what is told, for a device that is subscribed. */
export async function changeKinds(api: HubApi, kinds: readonly string[]): Promise<void> {
  const subscription = await currentSubscription();
  if (subscription === undefined) return;
  const json: unknown = JSON.parse(JSON.stringify(subscription));
  await api.push.subscribe(isObject(json) ? json : {}, kinds);
}

async function currentSubscription(): Promise<PushSubscription | undefined> {
  if (!("serviceWorker" in navigator)) return undefined;
  const registration = await navigator.serviceWorker.getRegistration();
  return (await registration?.pushManager?.getSubscription()) ?? undefined;
}

const check = (name: string, isOk: boolean, help: string): Check => ({
  name,
  state: isOk ? "ok" : "bad",
  help: isOk ? undefined : help,
});

function permissionCheck(permission: NotificationPermission): {
  readonly state: CheckState;
  readonly help: string | undefined;
} {
  if (permission === "granted") return { state: "ok", help: undefined };
  if (permission === "default") return { state: "open", help: undefined };
  return { state: "bad", help: "Notifications are blocked for this page. Allow them in the browser's site settings." };
}
