// What the store costs: µs and bytes per update in bursts of 140 (300 B chunks and 20 B tokens), what the text index adds
// later, and how long a search takes. Prints JSON. Needs a Node that strips types (22.18 and later); Node 20 runs the
// bundle this file makes of itself.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fleet } from "./store-fleet.mjs";
import { chunk, cpuMicros, loadStore, manual, randomWords, round, sizeOf, textMaker } from "./store-world.mjs";

/** Bursts of 5,040 updates with quiet in between; `isSustained` leaves the quiet out. */
function burst({ openStore, sessionKey }, dir, bytes, perCommit, isSustained = false) {
  const scheduler = manual();
  const path = join(dir, `burst-${bytes}-${perCommit}-${isSustained}.db`);
  const fail = (error) => {
    throw error;
  };
  const key = sessionKey({ agent: "bench", cwd: "/bench", sessionId: "s" });
  const makeText = textMaker(bytes);
  const total = perCommit < 140 ? 10_080 : 40_320;
  const texts = Array.from({ length: total }, makeText);
  const { store, driver } = openStore({ path, scheduler, onError: fail });
  const wall = [];
  const background = [];
  let cpu = 0;
  let backgroundCpu = 0;
  for (let at = 0; at < total; at += perCommit) {
    const items = texts
      .slice(at, at + perCommit)
      .map((text, index) => chunk(at + index + 1, text, `m${Math.floor(at / 280)}`));
    const startCpu = process.cpuUsage();
    const start = performance.now();
    store.journal.append(key, "e1", items);
    store.journal.flush();
    wall.push(performance.now() - start);
    cpu += cpuMicros(startCpu);
    if ((at + perCommit) % 5_040 !== 0 || isSustained) continue;
    const backgroundStart = process.cpuUsage();
    const began = performance.now();
    scheduler.runAll();
    background.push(performance.now() - began);
    backgroundCpu += cpuMicros(backgroundStart);
  }
  const start = performance.now();
  const page = store.journal.read(key, "e1", { after: 0, limitBytes: Number.MAX_SAFE_INTEGER });
  const readMs = performance.now() - start;
  scheduler.runAll();
  store.close();
  wall.sort((a, b) => a - b);
  const result = {
    driver,
    updateBytes: bytes,
    updatesPerCommit: perCommit,
    isSustained,
    microsPerUpdate: round(cpu / total),
    wallMicrosPerUpdate: round((wall.reduce((a, b) => a + b, 0) * 1000) / total),
    commitMsP50: round(wall[Math.floor(wall.length / 2)]),
    commitMsP99: round(wall[Math.floor(wall.length * 0.99)]),
    commitMsMax: round(wall.at(-1)),
    journalBytesPerUpdate: round(bodyBytes(page) / total, 1),
    fileBytesPerUpdateWithIndex: round(sizeOf(path) / total, 1),
    backgroundMicrosPerUpdate: round(backgroundCpu / total),
    backgroundMsMax: round(scheduler.longestMs),
    backgroundCpuMsMax: round(scheduler.longestCpuMs),
    readAllMs: round(readMs),
    itemsRead: page.items.length,
  };
  rmSync(path, { force: true });
  return result;
}

const bodyBytes = (page) => page.items.reduce((sum, item) => sum + Buffer.byteLength(JSON.stringify(item)), 0);

function search({ openStore, sessionKey }, dir, sessions, messages) {
  const scheduler = manual();
  const path = join(dir, "search.db");
  const { store } = openStore({ path, scheduler, onError: (error) => console.error(error) });
  const makeText = textMaker(300);
  for (let s = 0; s < sessions; s++) {
    const key = sessionKey({ agent: "bench", cwd: `/w/${s % 40}`, sessionId: `s${s}` });
    const base = { key, sessionId: `s${s}`, agent: "bench", cwd: `/w/${s % 40}`, epochs: ["e1"], extra: {} };
    store.sessions.upsert({
      ...base,
      title: makeText().slice(0, 40),
      createdAt: s,
      updatedAt: s,
      state: "closed",
      isListed: true,
    });
    const items = Array.from({ length: messages }, (_, index) => chunk(index + 1, makeText(), `m${index}`));
    store.journal.append(key, "e1", items);
    store.journal.flush();
    scheduler.runAll();
  }
  while (store.sessions.list({ text: "warm" }).hits === undefined);
  scheduler.runAll();
  const vocabulary = randomWords(300);
  const first = Array.from({ length: 400 }, vocabulary);
  const count = new Map();
  for (const word of first) count.set(word, (count.get(word) ?? 0) + 1);
  const ranked = [...count].sort((a, b) => b[1] - a[1]).map(([word]) => word);
  const queries = {
    commonWord: ranked[0],
    twoCommonWords: `${ranked[0]} ${ranked[1]}`,
    rareWord: ranked.at(-1),
    prefix: ranked.at(-1).slice(0, 3),
    shortPrefix: ranked[0].slice(0, 2),
    oneLetter: "a",
    unknown: "zzzzqqqq",
    phraseLike: `${ranked[2]}_${ranked[3]}`,
    commonWordInOneWorkspace: ranked[0],
    rareWordInOneWorkspace: ranked.at(-1),
  };
  const timed = {};
  for (const [name, text] of Object.entries(queries)) {
    const query = { text, ...(name.endsWith("InOneWorkspace") && { workspace: "/w/7" }) };
    const runs = Array.from({ length: 7 }, () => {
      const startCpu = process.cpuUsage();
      const start = performance.now();
      const { hits } = store.sessions.list(query);
      return { ms: performance.now() - start, cpuMs: cpuMicros(startCpu) / 1000, hits: hits.length };
    });
    const sorted = (key) => runs.map((run) => run[key]).sort((a, b) => a - b);
    timed[name] = {
      medianMs: round(sorted("ms")[3]),
      maxMs: round(sorted("ms")[6]),
      cpuMs: round(sorted("cpuMs")[3]),
      hits: runs[0].hits,
    };
  }
  store.close();
  const result = {
    sessions,
    messagesPerSession: messages,
    fileMegabytes: round(sizeOf(path) / 1e6, 1),
    queries: timed,
  };
  rmSync(path, { force: true });
  return result;
}

const dir = mkdtempSync(join(tmpdir(), "acp-hub-bench-"));
try {
  const module = await loadStore(dir);
  const [sessions, messages] = (process.argv[2] ?? "1000x1000").split("x").map(Number);
  // The first run pays for cold code.
  burst(module, dir, 300, 140);
  const report = {
    node: process.version,
    bursts: [
      burst(module, dir, 300, 140),
      burst(module, dir, 20, 140),
      burst(module, dir, 300, 4),
      burst(module, dir, 20, 4),
      burst(module, dir, 300, 140, true),
    ],
    fleet: fleet(module, dir, 100, 750),
    search: sessions > 0 ? search(module, dir, sessions, messages) : undefined,
  };
  console.log(JSON.stringify(report, null, 2));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
