// The app on a slow phone, against the built hub: the budgets of the design, as the browser itself measures them.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { startLongSession } from "../lib/long-session.mjs";
import { round } from "../lib/measure.mjs";
import { figuresOf, isLive, openPhone, quiet, rowsOf, setVisibility, tapToolLine } from "../lib/phone.mjs";
import { MAIN } from "../lib/processes.mjs";

/** The built app. */
const WEB = join(MAIN, "../../web");

/** kB of what the page loads before anything is shown, as shipped: gzip, and brotli for who takes that. */
function sizes() {
  const html = gunzipSync(readFileSync(join(WEB, "index.html.gz"))).toString();
  const bytesOf = (name) => {
    const path = [name, name.replace(/\.(?:br|gz)$/, "")].map((each) => join(WEB, each)).find(existsSync);
    return path === undefined ? 0 : statSync(path).size;
  };
  const sizeOf = (pattern, suffix) =>
    round([...html.matchAll(pattern)].reduce((sum, match) => sum + bytesOf(match[1] + suffix), 0) / 1000, 1);
  const [scripts, styles] = [/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g, /href="\.\/(assets\/[^"]+\.css)"/g];
  return {
    scriptKb: sizeOf(scripts, ".gz"),
    styleKb: sizeOf(styles, ".gz"),
    scriptBrotliKb: sizeOf(scripts, ".br"),
    styleBrotliKb: sizeOf(styles, ".br"),
  };
}

/** Reads, taps and types while 30 updates a second come in. */
async function readWhileStreaming(phone, hub, seconds) {
  const { page } = phone;
  const turn = hub.prompt(`paced ${30 * seconds} 30`);
  let rows = 0;
  const field = page.getByLabel("Message to the agent");
  await page.locator('[data-turn="running"]').waitFor();
  for (let round = 0; round < 4; round += 1) {
    await field.tap();
    await page.keyboard.type("what is it", { delay: 60 });
    await field.fill("");
    await page.getByRole("button", { name: "Session menu" }).tap();
    await page.getByRole("button", { name: "Close", exact: true }).first().tap();
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -2500);
    await tapToolLine(page);
    rows = Math.max(rows, await rowsOf(page));
    await page.getByRole("button", { name: /To the end|new/ }).tap();
    rows = Math.max(rows, await rowsOf(page));
  }
  await turn;
  return { ...(await figuresOf(page)), rows };
}

const heapOf = async (phone) => (await phone.kept()).heapMb;

/** Many updates on: what is kept beyond their text. */
async function memory(phone, hub, updates) {
  const before = { heap: await heapOf(phone), ...phone.traffic };
  await hub.prompt(`paced ${updates} 800`);
  await phone.page.waitForTimeout(2000);
  const textBytes = updates * 10;
  const after = { heap: await heapOf(phone), ...phone.traffic };
  return {
    heapBeforeMb: round(before.heap, 1),
    heapAfterMb: round(after.heap, 1),
    textMb: round(textBytes / 1_048_576, 2),
    frames: after.frames - before.frames,
    frameBytesPerTextByte: round((after.frameBytes - before.frameBytes) / textBytes, 1),
  };
}

async function run({ items, streamSeconds, updates, quietSeconds, node = process.execPath }) {
  const hub = await startLongSession(node);
  const phone = await openPhone();
  const { page } = phone;
  try {
    await hub.prompt(`items ${items}`);
    await page.goto(await hub.pairingLink());
    await page.getByRole("button", { name: "Pair", exact: true }).click();
    await page.locator(".home").waitFor();
    await phone.slow(true);
    const base = page.url().replace(/#.*$/, "");
    await page.goto("about:blank");
    await page.goto(base);
    await page.locator(".session-row").first().waitFor();
    const home = await figuresOf(page);
    await page.goto("about:blank");
    await page.goto(`${base}#/session/${hub.sessionId}`);
    await isLive(page);
    const session = { ...(await figuresOf(page)), rows: await rowsOf(page) };
    const streaming = await readWhileStreaming(phone, hub, streamSeconds);
    await phone.slow(false);
    const kept = await memory(phone, hub, updates);
    const visible = await quiet(phone, quietSeconds);
    await setVisibility(page, "hidden");
    const hidden = await quiet(phone, quietSeconds);
    return { items, size: sizes(), home, session, streaming, memory: kept, visible, hidden };
  } finally {
    await phone.close();
    await hub.stop();
  }
}

export const web = {
  summary: "the app on a slow phone: loading, reacting, memory and traffic",
  isLong: true,
  defaults: { items: 5000, streamSeconds: 40, updates: 20_000, quietSeconds: 30 },
  tiny: { items: 200, streamSeconds: 20, updates: 1000, quietSeconds: 5 },
  run,
  budgets: ({ size, home, session, streaming, hidden }) => [
    ["app: initial scripts, kB gzip", size.scriptKb, "max", 150],
    ["app: initial styles, kB gzip", size.styleKb, "max", 25],
    ["app: LCP of home on a slow phone, ms", home.lcpMs, "max", 2000],
    ["app: LCP of a long session, ms", session.lcpMs, "max", 2000],
    ["app: CLS", Math.max(home.cls, session.cls, streaming.cls), "max", 0.05],
    ["app: INP at 30 updates/s in a long session, ms", streaming.inpMs, "max", 150],
    ["app: rows mounted", Math.max(session.rows, streaming.rows), "max", 60],
    ["app: requests a minute of a hidden page", hidden.requestsPerMinute, "max", 0],
  ],
  rows: ({ home, session, streaming, memory: kept }) => [
    {
      "home LCP ms": home.lcpMs,
      "session LCP ms": session.lcpMs,
      CLS: Math.max(home.cls, session.cls, streaming.cls),
      "INP ms": streaming.inpMs,
      rows: streaming.rows,
      "heap MB before": kept.heapBeforeMb,
      after: kept.heapAfterMb,
    },
  ],
};
