/**
 * Starts the app. On a slow network the sequence is what a person waits for: this part is small and asks the hub while the
 * screens are still on their way.
 */
import { buildServices, startServices } from "./app/services.ts";
import { registerServiceWorker } from "./platform/service-worker.ts";
import { watchVisualViewport } from "./platform/visual-viewport.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";

async function start(): Promise<void> {
  // Read first, while the rest is still coming.
  void import("react-dom/client");
  const screens = import("./app/mount.tsx");
  watchVisualViewport();
  const services = buildServices();
  const started = startServices(services);
  const { mount } = await screens;
  await started.restored;
  mount(services);
  await started.checked;
  // Without a service worker (plain HTTP) the app works online only; diagnostics says so.
  await registerServiceWorker().catch(() => undefined);
}

void start();
