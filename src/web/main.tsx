/** Starts the app. */
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { buildServices, startServices } from "./app/services.ts";
import { registerServiceWorker } from "./platform/service-worker.ts";
import { watchVisualViewport } from "./platform/visual-viewport.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";

async function start(): Promise<void> {
  watchVisualViewport();
  const services = await buildServices();
  const root = document.getElementById("root");
  if (root === null) throw new TypeError("the page has no #root");
  createRoot(root).render(<App services={services} />);
  await startServices(services);
  // Without a service worker (plain HTTP) the app works online only; diagnostics says so.
  await registerServiceWorker().catch(() => undefined);
}

void start();
