/** Puts the screens on the page. */
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import type { Services } from "./services.ts";

export function mount(services: Services): void {
  const root = document.getElementById("root");
  if (root === null) throw new TypeError("the page has no #root");
  createRoot(root).render(<App services={services} />);
}
