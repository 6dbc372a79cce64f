// What the scripts that measure the store share: the store as one module, text, time that moves by hand.
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The store as one module, so that the same code runs on every Node. */
export async function loadStore(dir) {
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

export function randomWords(seed) {
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

export function textMaker(bytes) {
  const word = randomWords(bytes);
  return () => {
    let text = "";
    while (text.length < bytes) text += `${word()} `;
    return text.slice(0, bytes);
  };
}

export function chunk(seq, text, messageId) {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text }, messageId };
  const params = { sessionId: "0191-bench", update };
  return {
    first: seq,
    last: seq,
    pieces: [text.length],
    message: { ts: 1_700_000_000_000, method: "session/update", params },
  };
}

export const cpuMicros = (since) => {
  const { user, system } = process.cpuUsage(since);
  return user + system;
};

export const round = (value, digits = 2) => Number(value.toFixed(digits));

/** Bytes of the file once the log is written back. */
export const sizeOf = (path) => statSync(path).size;

/** Time that only moves when everything due is run, so that background work is counted apart from commits. */
export const manual = () => {
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
    /** Only the clock: what is due stays due. */
    advance(ms) {
      now += ms;
    },
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
