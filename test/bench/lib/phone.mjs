// A phone for figures: Chromium with a small screen, a CPU four times slower and a slow mobile network, and what its page is
// measured by (web-vitals' definitions, read from the browser's own entries).
import { chromium } from "playwright-core";

const CPU_SLOWDOWN = 4;
/** "Slow 4G" as Lighthouse has it. */
const NETWORK = { offline: false, latency: 150, downloadThroughput: 204_800, uploadThroughput: 93_750 };

const COLLECTIONS = 3;

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--enable-precise-memory-info"];

/** Runs in the page before anything of it. */
function observe() {
  const seen = { lcp: 0, cls: 0, interactions: new Map() };
  window.figures = seen;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.lcp = entry.startTime;
  }).observe({ type: "largest-contentful-paint", buffered: true });
  // Sessions of shifts: gaps of a second, five seconds at most; the largest counts.
  let [sum, first, last] = [0, 0, 0];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      const isSame = entry.startTime - last < 1000 && entry.startTime - first < 5000;
      sum = isSame ? sum + entry.value : entry.value;
      if (!isSame) first = entry.startTime;
      last = entry.startTime;
      seen.cls = Math.max(seen.cls, sum);
    }
  }).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries())
      if (interactionId > 0)
        seen.interactions.set(interactionId, Math.max(seen.interactions.get(interactionId) ?? 0, duration));
  }).observe({ type: "event", durationThreshold: 16, buffered: true });
}

/** `isObserved`: what the page is measured by fills buffers of its own; who looks at its memory does without. */
export async function openPhone({ isObserved = true } = {}) {
  const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, headless: true, args: ARGS });
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
    serviceWorkers: "block",
  });
  context.setDefaultTimeout(120_000);
  if (isObserved) await context.addInitScript(observe);
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Performance.enable");
  const traffic = { requests: 0, frames: 0, frameBytes: 0 };
  cdp.on("Network.requestWillBeSent", () => {
    traffic.requests += 1;
  });
  cdp.on("Network.webSocketFrameReceived", ({ response }) => {
    traffic.frames += 1;
    traffic.frameBytes += response.payloadData.length;
  });
  const slow = async (isSlow) => {
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: isSlow ? CPU_SLOWDOWN : 1 });
    const fast = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    await cdp.send("Network.emulateNetworkConditions", isSlow ? NETWORK : fast);
    await cdp.send("Network.setCacheDisabled", { cacheDisabled: isSlow });
  };
  /** What lives behind the page after everything that can go has gone: some goes only when what held it has gone. */
  const kept = async () => {
    const readings = [];
    for (let round = 0; round < COLLECTIONS; round += 1) {
      await cdp.send("HeapProfiler.collectGarbage");
      const { metrics } = await cdp.send("Performance.getMetrics");
      const of = (wanted) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
      readings.push({
        heapMb: of("JSHeapUsedSize") / 1_048_576,
        nodes: of("Nodes"),
        listeners: of("JSEventListeners"),
      });
    }
    return readings.reduce((least, reading) => (reading.heapMb < least.heapMb ? reading : least));
  };
  return { page, cdp, traffic, slow, kept, close: () => browser.close() };
}

/** What the page has seen since it was loaded. Waits a little: entries come late. */
export async function figuresOf(page) {
  await page.waitForTimeout(600);
  const { lcp, cls, durations } = await page.evaluate(() => ({
    lcp: window.figures.lcp,
    cls: window.figures.cls,
    durations: [...window.figures.interactions.values()].sort((a, b) => b - a),
  }));
  // INP: the longest, or of many the one that 98 % stay below.
  const inp = durations[Math.floor(durations.length / 50)] ?? 0;
  return { lcpMs: Math.round(lcp), cls: Math.round(cls * 10_000) / 10_000, inpMs: inp, interactions: durations.length };
}

/** Tells the page that it is seen, or not; Chromium without a screen never does. */
export const setVisibility = (page, value) =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
    document.dispatchEvent(new Event("visibilitychange"));
  }, value);

/** What a page that nothing happens to costs, a minute. */
export async function quiet(phone, seconds) {
  await phone.page.waitForTimeout(2000);
  const before = { ...phone.traffic };
  await phone.page.waitForTimeout(seconds * 1000);
  const perMinute = (name) => Math.round(((phone.traffic[name] - before[name]) * 600) / seconds) / 10;
  return { requestsPerMinute: perMinute("requests"), bytesPerMinute: perMinute("frameBytes") };
}

/** Taps where a tool's line is now: rows come and go under a stream. */
export async function tapToolLine(page) {
  const at = await page.evaluate(() => {
    const boxes = [...document.querySelectorAll(".tool-line")].map((line) => line.getBoundingClientRect());
    const box = boxes.find(({ top, bottom }) => top > 100 && bottom < window.innerHeight - 200);
    return box && { x: box.x + 60, y: box.y + box.height / 2 };
  });
  if (at !== undefined) await page.touchscreen.tap(at.x, at.y);
}

export const isLive = (page) => page.locator('.session[data-attach="live"]').waitFor();
export const rowsOf = (page) => page.locator(".row").count();
