// What a connection that does nothing costs in memory, and the hub with none; beside it a bare `ws` server's.
import { initialized } from "../lib/acp-client.mjs";
import { round, rssMb, sleep } from "../lib/measure.mjs";
import { startHub, startRelay } from "../lib/systems.mjs";

/** Descriptors besides the sockets, at both ends. */
const SPARE_FILES = 200;
/** Until whoever attaches nothing has been found to watch, and an idle hub has given back what it does not need. */
const SETTLE_MS = 8000;

async function filesAllowed() {
  const { readFileSync } = await import("node:fs");
  const [, limit] = /Max open files\s+(\d+)/.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return Number(limit ?? 1024);
}

async function kilobytesEach(pid, count, open, settleMs) {
  const before = rssMb(pid);
  const clients = [];
  for (let at = 0; at < count; at += 50)
    clients.push(...(await Promise.all(Array.from({ length: Math.min(50, count - at) }, open))));
  await sleep(settleMs);
  const after = rssMb(pid);
  for (const client of clients) client.close();
  return { before, after, each: round(((after - before) * 1024) / count) };
}

export const idle = {
  summary: "2,000 connections that do nothing",
  defaults: { connections: 2000, settleMs: SETTLE_MS },
  tiny: { connections: 10, settleMs: 50 },
  async run({ connections, settleMs, node }) {
    const count = Math.min(connections, (await filesAllowed()) - SPARE_FILES);
    const hub = await startHub({ node });
    const relay = await startRelay({ node });
    await sleep(settleMs);
    const ofHub = await kilobytesEach(hub.pids.server, count, () => initialized(hub.address), settleMs);
    const ofRelay = await kilobytesEach(relay.pids.server, count, relay.client, settleMs);
    await hub.stop();
    await relay.stop();
    return {
      connections: count,
      hubIdleMb: ofHub.before,
      hubMb: ofHub.after,
      kbEach: ofHub.each,
      relayKbEach: ofRelay.each,
    };
  },
  budgets: ({ hubIdleMb, kbEach }) => [
    ["hub memory with one bridge and no connection, MB", hubIdleMb, "max", 90],
    ["idle connection, kB", kbEach, "max", 20],
  ],
  rows: ({ connections, hubIdleMb, hubMb, kbEach, relayKbEach }) => [
    { connections, "idle MB": hubIdleMb, "then MB": hubMb, "kB each": kbEach, "relay kB each": relayKbEach },
  ],
};
