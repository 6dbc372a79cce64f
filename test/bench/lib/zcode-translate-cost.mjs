// What translating ZCode's events costs: µs per event from the line on stdin to the update as text, beside a bare parse
// of the same lines, and the heap after an hour's worth of stream. Prints JSON. Runs on every supported Node.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL("../../../", import.meta.url));
setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

async function load(dir) {
  const outfile = join(dir, "zcode.mjs");
  const from = "./src/backends/zcode";
  const contents = [
    `export { Session } from "${from}/sessions/session.ts";`,
    `export { Router } from "${from}/turns/router.ts";`,
    `export { ZcodeConnection } from "${from}/rpc/connection.ts";`,
    `export { readEvent } from "${from}/translate/event.ts";`,
  ].join("\n");
  await esbuild.build({
    stdin: { contents, resolveDir: root },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
  });
  return await import(pathToFileURL(outfile).href);
}

/** A session with the translation in front of it; `receive` takes a line of the app-server. */
function pipeline({ Session, Router, ZcodeConnection, readEvent }) {
  const clock = { now: () => Date.now(), setTimeout: () => () => {} };
  let bytes = 0;
  const send = (sessionId, update) => {
    bytes += JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } }).length;
  };
  const session = new Session(
    {
      cwd: "/p",
      zcodeSid: "sess_1",
      settings: { model: undefined, mode: "build", thought: undefined, models: [], levels: [] },
      isBornHere: true,
    },
    { send, hasTerminal: () => true, hex12: () => "0".repeat(12), now: clock.now, cancelTurn() {}, planApproved() {} },
  );
  session.aliases.add("u1");
  const host = {
    clock,
    log() {},
    newId: () => "id",
    asks: { drop() {}, dropTurn() {}, openCount: () => 0 },
    link: { notify() {} },
  };
  const router = new Router(host, { afterTool() {} }, { watch() {} });
  const connection = new ZcodeConnection(
    () => {},
    clock,
    () => {},
    {
      onNotification(method, params) {
        if (method === "session/event") router.onEvent(session, readEvent(params));
      },
      onRequest() {},
    },
  );
  return { receive: (line) => connection.receive(line), sent: () => bytes, session };
}

let seq = 0;
const event = (type, payload) =>
  JSON.stringify({
    method: "session/event",
    params: {
      eventId: `e${++seq}`,
      sessionId: "sess_1",
      turnId: "t1",
      seq,
      timestamp: 1,
      deliveryKind: "desktop-continuous",
      type,
      payload,
    },
  });

/** One model message and one command: 60 tokens, 12 longer pieces, a tool with 8 progress reports. */
function round(at) {
  const lines = [];
  const id = `m${at}`;
  for (let n = 0; n < 60; n++)
    lines.push(event("model.streaming", { kind: "text_delta", delta: "token ", assistantMessageId: id }));
  for (let n = 0; n < 12; n++)
    lines.push(event("model.streaming", { kind: "reasoning_delta", delta: "x".repeat(280), assistantMessageId: id }));
  const toolCallId = `c${at}`;
  lines.push(event("tool.updated", { kind: "scheduled", toolCallId, toolName: "Bash", input: { command: "make" } }));
  lines.push(event("tool.updated", { kind: "started", toolCallId }));
  for (let n = 1; n <= 8; n++) {
    const from = Math.max(0, n - 4);
    const stdoutTail = Array.from({ length: n - from }, (_, k) => `line ${from + k} ${"y".repeat(60)}\n`).join("");
    lines.push(event("tool.updated", { kind: "progress", toolCallId, stdoutTail }));
  }
  lines.push(
    event("tool.updated", {
      kind: "result",
      toolCallId,
      result: { content: "done", perf: { exitCode: 0 } },
      duration: 1,
    }),
  );
  return lines;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

function timed(lines, run) {
  const perEvent = [];
  const started = performance.now();
  for (const line of lines) {
    const before = performance.now();
    run(line);
    perEvent.push((performance.now() - before) * 1_000);
  }
  return { medianUs: median(perEvent), meanUs: ((performance.now() - started) * 1_000) / lines.length };
}

const rounded = (value) => Math.round(value * 100) / 100;

async function main() {
  const dir = mkdtempSync(join(tmpdir(), "bench-zcode-"));
  const modules = await load(dir);
  const start = event("turn.started", { turnNumber: 1, input: "go" });
  const lines = Array.from({ length: 600 }, (_, at) => round(at)).flat();
  const warm = pipeline(modules);
  for (const line of [start, ...lines.slice(0, 20_000)]) warm.receive(line);
  for (const line of lines.slice(0, 20_000)) JSON.parse(line);
  const bare = timed(lines, (line) => JSON.parse(line));
  const subject = pipeline(modules);
  subject.receive(start);
  const translated = timed(lines, (line) => subject.receive(line));

  // An hour at 60 events a second, in one turn.
  const hour = pipeline(modules);
  hour.receive(start);
  const heap = [];
  const events = Number(process.argv[2] ?? 216_000);
  let fed = 0;
  for (let at = 0; fed < events; at++) {
    for (const line of round(10_000 + at)) {
      hour.receive(line);
      fed++;
    }
    if (at % 500 === 499) {
      gc();
      heap.push(rounded(process.memoryUsage().heapUsed / 1_048_576));
    }
  }
  rmSync(dir, { recursive: true, force: true });
  const result = {
    node: process.version,
    events: lines.length,
    bareParse: { medianUs: rounded(bare.medianUs), meanUs: rounded(bare.meanUs) },
    translated: { medianUs: rounded(translated.medianUs), meanUs: rounded(translated.meanUs) },
    addedMedianUs: rounded(translated.medianUs - bare.medianUs),
    addedMeanUs: rounded(translated.meanUs - bare.meanUs),
    budgetMedianUs: 20,
    hour: { events: fed, heapMiB: heap },
  };
  process.stdout.write(`${JSON.stringify(result, null, 1)}\n`);
  if (result.addedMedianUs > result.budgetMedianUs) process.exitCode = 1;
}

await main();
