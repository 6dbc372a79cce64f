// Clients that stop reading in the middle of a stream: what they hold in memory, and whether the others feel it. Beside it the bare
// relay, and the hub with nobody stalled.
import { isComplete } from "../lib/counting-client.mjs";
import { peakRssMb, round } from "../lib/measure.mjs";
import { startHub, startRelay } from "../lib/systems.mjs";

async function once(system, { stalled, updates, bytes }) {
  const healthy = await system.client();
  const held = await Promise.all(Array.from({ length: stalled }, () => system.client()));
  for (const client of held) client.pause();
  const before = peakRssMb(system.pids.server);
  const done = healthy.round({ withText: true });
  const heldDone = held.map((client) => client.round({ withText: true }));
  const startedAt = performance.now();
  system.prompt(`burst ${updates} ${bytes}`);
  await done;
  const healthyMs = performance.now() - startedAt;
  const peak = peakRssMb(system.pids.server);
  for (const client of held) client.resume();
  const resumedAt = performance.now();
  await Promise.all(heldDone);
  const resumedMs = performance.now() - resumedAt;
  const complete = [healthy, ...held].filter((client) => isComplete(client.said, updates)).length;
  for (const client of [healthy, ...held]) client.close();
  await system.stop();
  return { peakMb: peak, grownMb: peak - before, healthyMs, resumedMs, complete };
}

async function run(options) {
  const { node, stalled: count } = options;
  const none = await once(await startHub({ node }), { ...options, stalled: 0 });
  const hub = await once(await startHub({ node }), options);
  const relay = await once(await startRelay({ node }), options);
  return {
    stalled: count,
    updates: options.updates,
    bytes: options.bytes,
    none,
    hub,
    relay,
    mbEach: round((hub.peakMb - none.peakMb) / count),
    relayMbEach: round(relay.grownMb / count),
  };
}

export const stalled = {
  summary: "20 clients that stop reading",
  defaults: { stalled: 20, updates: 20_000, bytes: 2000 },
  tiny: { stalled: 2, updates: 200, bytes: 2000 },
  run,
  budgets: ({ mbEach }) => [["stalled client, MB each (peak, over a run with none)", mbEach, "max", 3]],
  rows: ({ stalled: count, mbEach, relayMbEach, none, hub }) => [
    {
      stalled: count,
      "MB each": mbEach,
      "relay MB each": relayMbEach,
      "peak MB": hub.peakMb,
      "none stalled, ms": none.healthyMs,
      "healthy client, ms": hub.healthyMs,
      "caught up in ms": hub.resumedMs,
    },
  ],
};
