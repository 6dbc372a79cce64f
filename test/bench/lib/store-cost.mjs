// What the store costs: µs and bytes per update in bursts of 140 (300 B chunks and 20 B tokens), what the text index adds
// later, and how long a search takes. Prints JSON. Needs a Node that strips types (22.18 and later); Node 20 runs the
// bundle this file makes of itself.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The store as one module, so that the same code runs on every Node. */
async function loadStore(dir) {
  const outfile = join(dir, "store.mjs");
  await esbuild.build({
    stdin: {
      contents: [
        'export { openStore } from "./src/store/open-store.ts";',
        'export { sessionKey } from "./src/store/session-key.ts";',
      ].join("\n"),
      resolveDir: root,
    },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    // The bundle lies outside the package; its optional dependency does not.
    banner: {
      js: `import { createRequire as __require } from "node:module"; const require = __require(${JSON.stringify(join(root, "package.json"))});`,
    },
    define: { "import.meta.url": JSON.stringify(pathToFileURL(join(root, "package.json")).href) },
  });
  return await import(pathToFileURL(outfile).href);
}

function randomWords(seed) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  const letter = () => String.fromCharCode(97 + Math.floor(next() * 26));
  const vocabulary = Array.from({ length: 20_000 }, () =>
    Array.from({ length: 3 + Math.floor(next() * 8) }, letter).join(""),
  );
  // Few words are common and most are rare, as in any language.
  return () => vocabulary[Math.floor(vocabulary.length * next() ** 3)];
}

function textMaker(bytes) {
  const word = randomWords(bytes);
  return () => {
    let text = "";
    while (text.length < bytes) text += `${word()} `;
    return text.slice(0, bytes);
  };
}

function chunk(seq, text, messageId) {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text }, messageId };
  const params = { sessionId: "0191-bench", update };
  return {
    first: seq,
    last: seq,
    pieces: [text.length],
    message: { ts: 1_700_000_000_000, method: "session/update", params },
  };
}

const cpuMicros = (since) => {
  const { user, system } = process.cpuUsage(since);
  return user + system;
};

const round = (value, digits = 2) => Number(value.toFixed(digits));

/** Bytes of the file once the log is written back. */
const sizeOf = (path) => statSync(path).size;

/** Time that only moves when everything due is run, so that background work is counted apart from commits. */
const manual = () => {
  let tasks = [];
  let now = 1_700_000_000_000;
  let longestMs = 0;
  let longestCpuMs = 0;
  return {
    /** The longest that one task held the loop. */
    get longestMs() {
      return longestMs;
    },
    /** The most CPU that one task took: the same on a machine that does nothing else. */
    get longestCpuMs() {
      return longestCpuMs;
    },
    now: () => now,
    monotonic: () => now,
    after: (ms, run) => {
      const task = { at: now + ms, run };
      tasks.push(task);
      return () => {
        tasks = tasks.filter((other) => other !== task);
      };
    },
    runAll() {
      while (tasks.length > 0) {
        const [task, ...rest] = tasks.sort((a, b) => a.at - b.at);
        tasks = rest;
        now = Math.max(now, task.at);
        const startCpu = process.cpuUsage();
        const start = performance.now();
        task.run();
        longestMs = Math.max(longestMs, performance.now() - start);
        longestCpuMs = Math.max(longestCpuMs, cpuMicros(startCpu) / 1000);
      }
    },
  };
};

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
    search: sessions > 0 ? search(module, dir, sessions, messages) : undefined,
  };
  console.log(JSON.stringify(report, null, 2));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
