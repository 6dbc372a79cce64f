// What `bridge` adds to an editor's start: time from spawn to the initialize answer, and memory over the agent alone, which is a bare
// Node. Without a hub, and with one that is up.
import { median, rssMb, sleep, spread } from "../lib/measure.mjs";
import { AGENT, ended, MAIN, makeHome, removeHome, said, start } from "../lib/processes.mjs";
import { startHubProcess } from "../lib/systems.mjs";

const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}\n';

async function once(node, args, env) {
  const startedAt = performance.now();
  const child = start(node, args, { env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write(INITIALIZE);
  await said(child, (line) => (line.includes('"id":1') ? line : undefined), "the agent");
  const ms = performance.now() - startedAt;
  await sleep(150);
  const rss = rssMb(child.pid);
  child.stdin.end();
  await ended(child);
  return { ms, rss };
}

async function run({ rounds, node = process.execPath }) {
  const home = makeHome();
  const busyHome = makeHome();
  const hub = await startHubProcess({ node, home: busyHome });
  const env = { ...process.env, ACP_HUB_HOME: home, ACP_HUB_NO_AUTOSTART: "1" };
  const bridge = [MAIN, "bridge", "--", node, AGENT];
  const ways = {
    alone: [[AGENT], env],
    bridgeNoShare: [[MAIN, "bridge", "--no-share", "--", node, AGENT], env],
    bridgeNoHub: [bridge, env],
    bridgeWithHub: [bridge, hub.env],
  };
  const samples = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let index = -1; index < rounds; index += 1) {
    for (const [name, [args, environment]] of Object.entries(ways)) {
      const sample = await once(node, args, environment);
      if (index >= 0) samples[name].push(sample);
    }
  }
  const idleRss = rssMb(hub.child.pid);
  hub.child.kill("SIGTERM");
  await ended(hub.child);
  for (const dir of [home, busyHome]) removeHome(dir);
  const of = (name, field) => median(samples[name].map((each) => each[field]));
  return {
    rounds,
    ms: Object.fromEntries(Object.keys(ways).map((name) => [name, of(name, "ms")])),
    rssMb: { ...Object.fromEntries(Object.keys(ways).map((name) => [name, of(name, "rss")])), hub: idleRss },
    addedMs: of("bridgeWithHub", "ms") - of("alone", "ms"),
    addedRssMb: of("bridgeWithHub", "rss") - of("alone", "rss"),
    spread: spread(samples.alone.map((each) => each.ms)),
  };
}

export const startup = {
  summary: "an editor's start through the bridge",
  defaults: { rounds: 15 },
  tiny: { rounds: 1 },
  run,
  budgets: ({ addedMs, addedRssMb }) => [
    ["start-up of an editor's agent: added ms", addedMs, "max", 100],
    ["bridge memory over a bare Node, MB", addedRssMb, "max", 15],
  ],
  rows: ({ ms, rssMb: rss, addedMs }) => [
    {
      "alone ms": ms.alone,
      "no share ms": ms.bridgeNoShare,
      "no hub ms": ms.bridgeNoHub,
      "with hub ms": ms.bridgeWithHub,
      "added ms": addedMs,
      "alone MB": rss.alone,
      "bridge MB": rss.bridgeWithHub,
    },
  ],
};
