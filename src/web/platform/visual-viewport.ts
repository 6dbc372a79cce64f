/**
 * Keeps the app above a keyboard that covers the page instead of resizing it (iOS; elsewhere the page's own
 * `interactive-widget` does this). The height goes through the CSSOM, which the page's policy allows.
 */

/** Smaller differences are browser bars sliding in and out. */
const KEYBOARD_PX = 120;

export function watchVisualViewport(): void {
  const viewport = window.visualViewport;
  if (viewport === null) return;
  const fit = (): void => {
    const isCovered = window.innerHeight - viewport.height > KEYBOARD_PX && viewport.scale === 1;
    const { style } = document.documentElement;
    if (isCovered) style.setProperty("--app-height", `${viewport.height}px`);
    else style.removeProperty("--app-height");
    // The browser has pushed the page up to show the field; the app fits now, so it goes back down.
    if (isCovered) window.scrollTo(0, 0);
  };
  viewport.addEventListener("resize", fit);
}
