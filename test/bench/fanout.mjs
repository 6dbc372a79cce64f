// Burst fan-out: one agent, N clients. Rounds of both systems alternate; the figures are medians over the rounds.
import { cpuMicros, load, median, round, rssMb } from "./lib/measure.mjs";
import { startHub, startRelay } from "./lib/systems.mjs";

const UPDATES = 5000;
const BYTES = 300;

async function oneRound(system, clients, updates) {
  const done = clients.map((client) => client.round());
  const before = Object.fromEntries(Object.entries(system.pids).map(([name, pid]) => [name, cpuMicros(pid)]));
  const startedAt = performance.now();
  system.prompt(`burst ${updates} ${BYTES}`);
  await Promise.all(done);
  const seconds = (performance.now() - startedAt) / 1000;
  await new Promise((resolve) => setTimeout(resolve, 60));
  const deliveries = updates * clients.length;
  const cpu = Object.fromEntries(
    Object.entries(system.pids).map(([name, pid]) => [name, cpuMicros(pid) - before[name]]),
  );
  return {
    perSecond: deliveries / seconds,
    serverPerDelivery: cpu.server / deliveries,
    bridgePerUpdate: (cpu.bridge ?? 0) / updates,
    frames: clients[0].frames,
  };
}

export async function fanout({ counts = [1, 10, 100], rounds = 5, updates = UPDATES, node } = {}) {
  const results = [];
  for (const count of counts) {
    const systems = [await startRelay(node), await startHub(node)];
    const opened = [];
    for (const system of systems) opened.push(await Promise.all(Array.from({ length: count }, () => system.client())));
    const samples = systems.map(() => []);
    // The first round warms both up and does not count.
    for (let index = -1; index < rounds; index += 1) {
      for (const [at, system] of systems.entries()) {
        const sample = await oneRound(system, opened[at], updates);
        if (index >= 0) samples[at].push(sample);
      }
    }
    const [relay, hub] = samples.map((list) => ({
      deliveriesPerSecond: Math.round(median(list.map((sample) => sample.perSecond))),
      serverMicrosPerDelivery: round(median(list.map((sample) => sample.serverPerDelivery)), 3),
      bridgeMicrosPerUpdate: round(median(list.map((sample) => sample.bridgePerUpdate))),
      framesPerClient: median(list.map((sample) => sample.frames)),
    }));
    const rss = {
      relay: rssMb(systems[0].pids.server),
      hub: rssMb(systems[1].pids.server),
      bridge: rssMb(systems[1].pids.bridge),
    };
    results.push({
      clients: count,
      updates,
      relay,
      hub,
      ratio: round(hub.deliveriesPerSecond / relay.deliveriesPerSecond),
      rssMb: rss,
      load: load(),
    });
    for (const list of opened) for (const client of list) client.close();
    for (const system of systems) await system.stop();
  }
  return results;
}
