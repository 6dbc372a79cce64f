/** Registers the service worker and tells when a newer one waits. */
import { Observable } from "../../client/index.ts";

/** The worker that waits to take over; undefined while there is none. */
export const updateReady: Observable<ServiceWorker | undefined> = new Observable<ServiceWorker | undefined>(undefined);

export async function registerServiceWorker(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const hadController = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    // The first worker takes over a page that is up to date; a later one was asked to by the person.
    if (hadController) location.reload();
  });
  navigator.serviceWorker.addEventListener("message", (event) => {
    if (typeof event.data === "string" && event.data.startsWith("#")) location.hash = event.data;
  });
  const registration = await navigator.serviceWorker.register("./sw.js");
  if (registration.waiting !== null && hadController) updateReady.set(registration.waiting);
  registration.addEventListener("updatefound", () => {
    const worker = registration.installing;
    worker?.addEventListener("statechange", () => {
      if (worker.state === "installed" && navigator.serviceWorker.controller !== null) updateReady.set(worker);
    });
  });
}
