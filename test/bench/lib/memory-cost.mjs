// The code alone: the agent's lines through both multiplexers over pairs in memory, to N readers that count bytes. No pipe, no
// socket, no disk. Prints JSON: µs per update, for each number of readers.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";
import { median, round } from "./measure.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const [counts = "1,10,100", updates = "20000", rounds = "5"] = process.argv.slice(2);

async function load(dir) {
  const outfile = join(dir, "memory.mjs");
  const contents = [
    'export { Feed } from "./src/core/fanout/feed.ts";',
    'export { Outbox } from "./src/core/fanout/outbox.ts";',
    'export { Journal } from "./src/core/journal/journal.ts";',
    'export { spliceStamp } from "./src/core/stamp.ts";',
    'export { readEventStamp, readItem } from "./src/core/mirror/link-reading.ts";',
    'export { encodeTextFrames } from "./src/transport/ws-frames.ts";',
    'export { memoryPair } from "./src/transport/memory.ts";',
  ].join("\n");
  await esbuild.build({
    stdin: { contents, resolveDir: root },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
  });
  return await import(pathToFileURL(outfile).href);
}

const line = (index) =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${index} ${"x".repeat(290)}"},"messageId":"m1"}}}`;

/** A journal's readers: cursors into a feed, as the hub has them. */
function readersOf({ Feed, Outbox, encodeTextFrames }, journal, count) {
  const encoder = {
    encode(texts) {
      const encoded = encodeTextFrames(texts);
      return { encoded, bytes: encoded.length };
    },
  };
  const feed = new Feed(encoder);
  const source = {
    tail: () => journal.tail,
    isMidway: false,
    historyUpTo: 0,
    gapNotice: () => undefined,
    read: (_cursor, upTo) => ({ texts: [], last: upTo }),
  };
  let bytes = 0;
  const sink = {
    write: (_encoded, size) => {
      bytes += size;
    },
    buffered: () => 0,
  };
  const limits = { pauseBytes: 1e9, hardBytes: 1e9 };
  for (let index = 0; index < count; index += 1)
    new Outbox(`c${index}`, sink, encoder, limits, () => undefined).subscribe(feed, source, 0);
  return { feed, bytes: () => bytes };
}

/** One pass of all updates; resolves to its CPU in µs. */
async function pass(code, count, total) {
  const { memoryPair, Journal, spliceStamp, readEventStamp, readItem } = code;
  const [agent, bridge] = memoryPair();
  const [link, hub] = memoryPair();
  const ofBridge = new Journal("e1", 33_554_432);
  const ofHub = new Journal("e1", 67_108_864);
  const { feed, bytes } = readersOf(code, ofHub, count);
  let arrived = 0;
  let onAll;
  const all = new Promise((resolve) => {
    onAll = resolve;
  });
  bridge.start({
    onFrame: ({ msg, text }) => {
      const seq = ofBridge.append(1_700_000_000_000, msg.method, msg.params, text.length);
      link.send(spliceStamp(text, msg.method, msg.params, { epoch: "e1", seq, ts: 1_700_000_000_000 }));
    },
    onJunk: () => undefined,
    onClose: () => undefined,
  });
  hub.start({
    onFrame: ({ msg, text }) => {
      const stamp = readEventStamp(msg.params);
      const item = readItem(msg.method, msg.params, stamp);
      ofHub.put(item, text.length);
      feed.publish({ seq: stamp.seq, first: item.first, text, audience: "all" });
      arrived += 1;
      if (arrived % 140 === 0 || arrived === total) feed.flush();
      if (arrived === total) onAll();
    },
    onJunk: () => undefined,
    onClose: () => undefined,
  });
  const before = process.cpuUsage();
  for (let index = 1; index <= total; index += 1) {
    agent.send(line(index));
    if (index % 140 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await all;
  const { user, system } = process.cpuUsage(before);
  return { micros: (user + system) / total, bytesEach: bytes() / count / total };
}

const dir = mkdtempSync(join(root, "node_modules", ".acp-hub-bench-"));
try {
  const code = await load(dir);
  const results = [];
  for (const count of counts.split(",").map(Number)) {
    const samples = [];
    for (let index = -1; index < Number(rounds); index += 1) {
      const sample = await pass(code, count, Number(updates));
      if (index >= 0) samples.push(sample);
    }
    const microsPerUpdate = round(median(samples.map((sample) => sample.micros)));
    results.push({ readers: count, microsPerUpdate, bytesEach: round(samples[0].bytesEach) });
  }
  console.log(JSON.stringify({ node: process.version, updates: Number(updates), results }));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
