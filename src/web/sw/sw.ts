/**
 * The service worker: the shell works offline, and a push is shown though the page is closed. It never touches the hub's
 * own routes: what they answer is not for a cache.
 */
import type { PushEventLike, WorkerScope } from "./worker-scope.ts";

declare const self: WorkerScope;

/** The built files of the shell; put in by the build. */
const SHELL = JSON.parse("__PRECACHE__") as readonly string[];

const PREFIX = "acp-hub-shell-";

/** Two builds never share a cache: a name of its content. */
const CACHE = PREFIX + hash(SHELL.join("\n"));

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL.map(requestOf))));
});

/** What is named by its content may come from the browser's own cache, where the page has just put it; the rest may not. */
const requestOf = (path: string): Request =>
  new Request(path, { cache: path.startsWith("assets/") ? "default" : "reload" });

self.addEventListener("activate", (event) => {
  event.waitUntil(removeOldCaches().then(() => self.clients.claim()));
});

self.addEventListener("message", (event) => {
  if (event.data === "take-over") void self.skipWaiting();
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  const path = url.pathname.slice(new URL(self.registration.scope).pathname.length);
  if (request.mode === "navigate" && path === "") event.respondWith(shellFirst("./", request));
  else if (path.startsWith("assets/") || path.startsWith("icons/") || path === "manifest.webmanifest")
    event.respondWith(shellFirst(path, request));
});

self.addEventListener("push", (event) => event.waitUntil(showPush(event)));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const data: unknown = event.notification.data;
  const url =
    typeof data === "object" && data !== null && "url" in data && typeof data.url === "string" ? data.url : "#/";
  event.waitUntil(openPage(url));
});

/** Files of the build are named by their content: what is cached is right. */
async function shellFirst(path: string, request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const cached = await cache.match(path);
  if (cached !== undefined) return cached;
  const response = await fetch(request);
  if (response.ok && path.startsWith("assets/")) await cache.put(path, response.clone());
  return response;
}

async function removeOldCaches(): Promise<void> {
  for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
}

interface PushMessage {
  readonly title: string;
  readonly body: string;
  readonly tag: string | undefined;
  readonly url: string;
}

/** A push must always show something, or the browser withdraws the permission. */
async function showPush(event: PushEventLike): Promise<void> {
  const { title, body, tag, url } = readPush(event);
  const options: NotificationOptions = {
    body,
    data: { url },
    icon: "./icons/icon-192.png",
    badge: "./icons/icon-192.png",
  };
  await self.registration.showNotification(title, tag === undefined ? options : { ...options, tag });
}

function readPush(event: PushEventLike): PushMessage {
  let value: Record<string, unknown> = {};
  try {
    const data: unknown = event.data?.json();
    if (typeof data === "object" && data !== null) value = data as Record<string, unknown>;
  } catch {
    // Not ours, or cut: the general words will do.
  }
  const text = (name: string): string | undefined => (typeof value[name] === "string" ? value[name] : undefined);
  const sessionId = text("sessionId");
  return {
    title: text("title") ?? "acp-hub",
    body: text("body") ?? "Something needs you",
    tag: text("tag"),
    url: text("url") ?? (sessionId === undefined ? "#/" : `#/session/${encodeURIComponent(sessionId)}`),
  };
}

/** Only addresses of this app: a push names a place in it, not a page of its own. */
async function openPage(url: string): Promise<void> {
  const hash = url.includes("#") ? url.slice(url.indexOf("#")) : "#/";
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages[0];
  if (page === undefined) await self.clients.openWindow(self.registration.scope + hash);
  else {
    page.postMessage(hash);
    await page.focus();
  }
}

/** FNV-1a, 32 bit: names, not security. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return (value >>> 0).toString(36);
}
