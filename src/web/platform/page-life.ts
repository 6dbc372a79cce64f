/** Tells when the page is seen, hidden, or has its network back. */

export interface PageLife {
  onVisible(isVisible: boolean): void;
  /** The network is back, or the page was thawed: whatever was open may be dead. */
  onWake(): void;
}

export function watchPage(life: PageLife): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  document.addEventListener("visibilitychange", () => life.onVisible(document.visibilityState === "visible"), {
    signal,
  });
  window.addEventListener("online", () => life.onWake(), { signal });
  window.addEventListener("pageshow", (event) => event.persisted && life.onWake(), { signal });
  document.addEventListener("resume", () => life.onWake(), { signal });
  return () => abort.abort();
}
