/** Puts the screens on the page. */
import { App } from "./app.tsx";
import { createRoot } from "./react-root.ts";
import type { Services } from "./services.ts";

export { fetchLateParts } from "../ui/late.tsx";

export function mount(services: Services): void {
  const root = document.getElementById("root");
  if (root === null) throw new TypeError("the page has no #root");
  createRoot(root).render(<App services={services} />);
}
