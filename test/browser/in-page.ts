/** What tests ask of the page itself before they go on. */
import type { Locator, Page } from "playwright-core";

/** The app's service worker can serve it: a page that is opened without a hub comes from there. */
export const workerReady = (page: Page): Promise<void> =>
  page.evaluate(async () => void (await navigator.serviceWorker.ready));

/** What the device keeps. A test that takes the page away waits for it: a page that is gone writes nothing more. */
export const storedKeys = (page: Page): Promise<string[]> =>
  page.evaluate(
    () =>
      new Promise<string[]>((done) => {
        const opened = indexedDB.open("acp-hub", 1);
        opened.onsuccess = () => {
          const keys = opened.result.transaction("values").objectStore("values").getAllKeys();
          keys.onsuccess = () => done(keys.result.map(String));
        };
      }),
  );

const STILL_FRAMES = 10;

/** Where a list is scrolled to once it stands still: a wheel takes it there in several frames. */
export const restOf = (list: Locator): Promise<number> =>
  list.evaluate(
    (element, frames) =>
      new Promise<number>((resolve) => {
        let at = element.scrollTop;
        let still = 0;
        const look = (): void => {
          still = element.scrollTop === at ? still + 1 : 0;
          at = element.scrollTop;
          if (still === frames) resolve(at);
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }),
    STILL_FRAMES,
  );

/** What the page was told by now has reached it: events of scrolling come with the next frame. */
export const framePainted = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );
