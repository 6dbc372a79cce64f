/** Starts the app: what talks to the hub first, the screens when they are there. */
import { registerServiceWorker } from "../platform/service-worker.ts";
import { watchVisualViewport } from "../platform/visual-viewport.ts";
import { buildServices, type Opened, type Services, startServices } from "./services.ts";
import { warmUp } from "./warm-up.ts";

interface Screens {
  readonly mount: (services: Services) => void;
  readonly fetchLateParts: () => void;
}

/** The page is drawn once, if what it is opened for is a moment away; a slower hub is not waited for. */
const CONTENT_MS = 250;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The page runs its script as soon as that is there: its own end may come later. */
const pageRead = (): Promise<void> =>
  document.readyState === "loading"
    ? new Promise((resolve) => document.addEventListener("DOMContentLoaded", () => resolve(), { once: true }))
    : Promise.resolve();

export async function start(opened: Opened, coming: Promise<Screens>): Promise<void> {
  watchVisualViewport();
  const services = buildServices(opened);
  const started = startServices(services);
  // After what was just asked of the network has been sent.
  setTimeout(() => warmUp(Date.now()));
  const screens = await coming;
  await started.restored;
  await Promise.race([started.hasContent, pause(CONTENT_MS)]);
  await pageRead();
  screens.mount(services);
  await started.checked;
  screens.fetchLateParts();
  // Without a service worker (plain HTTP) the app works online only; diagnostics says so.
  await registerServiceWorker().catch(() => undefined);
}
