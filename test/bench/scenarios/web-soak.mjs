// The app watching one session for an hour: what stays in memory beyond the agent's words, and what goes over the wire. Named alone:
// `npm run bench -- web-soak --minutes 60`.
import { heapKinds } from "../lib/heap-kinds.mjs";
import { startLongSession } from "../lib/long-session.mjs";
import { line, round } from "../lib/measure.mjs";
import { itemOf, mixedUpdate, textBytesOf } from "../lib/mixed-stream.mjs";
import { isLive, openPhone, quiet, rowsOf, setVisibility, tapToolLine } from "../lib/phone.mjs";

/** Memory grows until code is compiled and pools are full; what counts is the line behind that. */
const WARM_SHARE = 0.3;

/** What a person does now and then while the agent writes. Gives the rows that were mounted. */
async function fidget(page) {
  await page.getByRole("button", { name: "Session menu" }).tap();
  await page.getByRole("button", { name: "Close", exact: true }).first().tap();
  await page.locator(".transcript").hover();
  await page.mouse.wheel(0, -2500);
  await tapToolLine(page);
  const rows = await rowsOf(page);
  await page.getByRole("button", { name: /To the end|new/ }).tap();
  await tapToolLine(page);
  return Math.max(rows, await rowsOf(page));
}

/** One piece of the hour: a turn of the agent, watched. */
async function watch(phone, hub, { run, perSecond, sampleMs, fidgetMs }) {
  const updates = Math.max(3, Math.round((perSecond * sampleMs) / 1000));
  let isOver = false;
  const turn = hub.prompt(`mixed ${updates} ${perSecond}`).then(() => {
    isOver = true;
  });
  let rows = 0;
  while (!isOver) {
    rows = Math.max(rows, await fidget(phone.page));
    await Promise.race([turn, phone.page.waitForTimeout(fidgetMs)]);
  }
  return { updates, rows, ...writtenIn(updates, run) };
}

/** A turn as the transcript has it: who asked and how it ended stand in it too. */
const FRAME_ITEMS = 2;

function writtenIn(updates, run) {
  const all = Array.from({ length: updates }, (_, index) => mixedUpdate(index + 1, run));
  const textBytes = all.reduce((sum, update) => sum + textBytesOf(update), 0);
  return { textBytes, items: new Set(all.map(itemOf)).size + FRAME_ITEMS };
}

const MB = 1_048_576;

/** `heapMb` as the engine counts it; of that, what it has compiled. */
async function sample(phone, total, startedAt) {
  await phone.page.waitForTimeout(1000);
  const minute = (Date.now() - startedAt) / 60_000;
  const kept = await phone.kept();
  const kinds = await heapKinds(phone.cdp);
  const ofKinds = { codeMb: kinds.code / MB, stringsMb: kinds.strings / MB, recordsMb: kinds.records / MB };
  return { minute, ...kept, ...ofKinds, textMb: total.textBytes / MB, items: total.items };
}

async function run(options) {
  const { items, minutes, sampleMs, quietSeconds, leftMs, node = process.execPath } = options;
  const hub = await startLongSession(node);
  const phone = await openPhone({ isObserved: false });
  const { page } = phone;
  try {
    await hub.prompt(`items ${items}`);
    await page.goto(await hub.pairingLink());
    await page.getByRole("button", { name: "Pair", exact: true }).click();
    await page.locator(".home").waitFor();
    const home = await phone.kept();
    await page.goto(`${page.url().replace(/#.*$/, "")}#/session/${hub.sessionId}`);
    await isLive(page);
    const samples = [];
    const total = { updates: 0, rows: 0, textBytes: 0, items: 0 };
    const before = { ...phone.traffic };
    const startedAt = Date.now();
    // The first prompt made the items.
    for (let number = 2; Date.now() - startedAt < minutes * 60_000; number += 1) {
      const {
        updates,
        rows,
        textBytes,
        items: written,
      } = await watch(phone, hub, { ...options, run: number, sampleMs });
      total.updates += updates;
      total.rows = Math.max(total.rows, rows);
      total.textBytes += textBytes;
      total.items += written;
      samples.push(await sample(phone, total, startedAt));
      process.stderr.write(`  ${JSON.stringify(samples.at(-1))}\n`);
    }
    const wireBytes = phone.traffic.frameBytes - before.frameBytes;
    const requests = phone.traffic.requests - before.requests;
    const visible = await quiet(phone, quietSeconds);
    await setVisibility(page, "hidden");
    const hidden = await quiet(phone, quietSeconds);
    await setVisibility(page, "visible");
    await page.goto(`${page.url().replace(/#.*$/, "")}#/`);
    await page.locator(".home").waitFor();
    // Longer than a session that was left is held.
    await page.waitForTimeout(leftMs);
    const left = await phone.kept();
    return { ...judge(samples, minutes), ...total, requests, wireBytes, home, left, visible, hidden, samples };
  } finally {
    await phone.close();
    await hub.stop();
  }
}

/**
 * The lines behind the warm third, each with its standard error. What grows is told apart: the agent's words, which are to be
 * kept; what the transcript has around them, by the item; and code, which grows until the engine has compiled what is used.
 */
function judge(samples, minutes) {
  const warm = samples.filter(({ minute }) => minute >= minutes * WARM_SHARE);
  const grows = (name, times, figureOf) => {
    const { slope, error } = line(warm.map((each) => [each.minute, figureOf(each) * times]));
    return { [name]: slope, [`${name}Error`]: error };
  };
  const last = samples.at(-1);
  return {
    minutes: round(last.minute, 1),
    heapMb: last.heapMb,
    ...grows("heapKbPerMinute", 1024, ({ heapMb }) => heapMb),
    /** What an hour adds beyond the agent's words. */
    ...grows("beyondTextMbPerHour", 60, ({ heapMb, textMb }) => heapMb - textMb),
    ...grows("codeMbPerHour", 60, ({ codeMb }) => codeMb),
    ...grows("recordsMbPerHour", 60, ({ stringsMb, recordsMb, textMb }) => stringsMb + recordsMb - textMb),
    /** What a message or a tool costs beyond its words. */
    bytesPerItem: line(warm.map((each) => [each.items, (each.stringsMb + each.recordsMb - each.textMb) * MB])).slope,
    nodes: last.nodes,
    ...grows("nodesPerMinute", 1, ({ nodes }) => nodes),
    listeners: last.listeners,
    ...grows("listenersPerMinute", 1, ({ listeners }) => listeners),
  };
}

export const webSoak = {
  summary: "the app watching an hour of stream: memory, nodes, bytes (--minutes)",
  isLong: true,
  defaults: {
    minutes: 60,
    items: 500,
    perSecond: 20,
    sampleMs: 60_000,
    fidgetMs: 10_000,
    quietSeconds: 60,
    leftMs: 25_000,
  },
  tiny: { minutes: 0.05, items: 60, perSecond: 60, sampleMs: 3000, fidgetMs: 500, quietSeconds: 2, leftMs: 500 },
  run,
  budgets: ({ beyondTextMbPerHour, nodesPerMinute, listenersPerMinute, rows, hidden }) => [
    ["app, an hour of stream: memory beyond the text, MB an hour", beyondTextMbPerHour, "max", 1],
    ["app, an hour of stream: nodes more a minute", nodesPerMinute, "max", 1],
    ["app, an hour of stream: listeners more a minute", listenersPerMinute, "max", 0.1],
    ["app, an hour of stream: rows mounted", rows, "max", 60],
    ["app, an hour of stream: requests a minute, hidden after it", hidden.requestsPerMinute, "max", 0],
  ],
  rows: (result) => [
    {
      minutes: result.minutes,
      updates: result.updates,
      "text MB": result.textBytes / 1_048_576,
      "wire MB": result.wireBytes / 1_048_576,
      "heap MB": result.heapMb,
      "kB/min": result.heapKbPerMinute,
      "beyond text MB/h": result.beyondTextMbPerHour,
      "±": result.beyondTextMbPerHourError,
      "of it code": result.codeMbPerHour,
      "of it items": result.recordsMbPerHour,
      "B/item": result.bytesPerItem,
      nodes: result.nodes,
      listeners: result.listeners,
      "left MB": result.left.heapMb,
    },
  ],
};
