// What `bridge` adds to an editor's start: time from spawn to the initialize answer, and memory over a bare Node.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load, median, round, rssMb } from "./lib/measure.mjs";
import { AGENT, lines, MAIN } from "./lib/systems.mjs";

async function initializeMs(node, args, env) {
  const startedAt = performance.now();
  const child = spawn(node, args, { env, stdio: ["pipe", "pipe", "ignore"] });
  const answered = new Promise((resolve) => lines(child, (line) => line.includes('"id":1') && resolve()));
  child.stdin.write(
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}\n',
  );
  await answered;
  const ms = performance.now() - startedAt;
  await new Promise((resolve) => setTimeout(resolve, 150));
  const rss = rssMb(child.pid);
  child.stdin.end();
  await new Promise((resolve) => child.once("exit", resolve));
  return { ms, rss };
}

export async function startup({ rounds = 7, node = process.execPath } = {}) {
  const home = mkdtempSync(join(tmpdir(), "acp-hub-bench-"));
  const env = { ...process.env, ACP_HUB_HOME: home, ACP_HUB_NO_AUTOSTART: "1" };
  const ways = {
    alone: [AGENT],
    bridgeNoShare: [MAIN, "bridge", "--no-share", "--", node, AGENT],
    bridgeNoHub: [MAIN, "bridge", "--", node, AGENT],
  };
  const samples = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let index = 0; index < rounds; index += 1) {
    for (const [name, args] of Object.entries(ways)) samples[name].push(await initializeMs(node, args, env));
  }
  rmSync(home, { recursive: true, force: true });
  const ms = Object.fromEntries(
    Object.entries(samples).map(([name, list]) => [name, round(median(list.map((each) => each.ms)), 1)]),
  );
  const rss = Object.fromEntries(
    Object.entries(samples).map(([name, list]) => [name, round(median(list.map((each) => each.rss)), 1)]),
  );
  return {
    ms,
    addedMs: round(ms.bridgeNoHub - ms.alone, 1),
    rssMb: rss,
    addedRssMb: round(rss.bridgeNoHub - rss.alone, 1),
    load: load(),
  };
}
