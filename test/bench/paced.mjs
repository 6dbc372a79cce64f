// Paced stream: what the two hops add to the time from the agent's write to the client, beside the bare relay in the same run.
import { load, median, percentile, round } from "./lib/measure.mjs";
import { startHub, startRelay } from "./lib/systems.mjs";

export async function paced({ clients = 50, perSecond = 200, seconds = 3, rounds = 5, node } = {}) {
  const systems = [await startRelay(node), await startHub(node)];
  const opened = [];
  for (const system of systems) opened.push(await Promise.all(Array.from({ length: clients }, () => system.client())));
  const samples = systems.map(() => []);
  for (let index = -1; index < rounds; index += 1) {
    for (const [at, system] of systems.entries()) {
      const done = opened[at].map((client) => client.round({ withLatency: true }));
      system.prompt(`paced ${perSecond * seconds} 300 ${perSecond}`);
      await Promise.all(done);
      const micros = opened[at].flatMap((client) => client.latencies);
      if (index >= 0) samples[at].push({ p50: percentile(micros, 50) / 1000, p99: percentile(micros, 99) / 1000 });
    }
  }
  for (const list of opened) for (const client of list) client.close();
  for (const system of systems) await system.stop();
  const [relay, hub] = samples.map((list) => ({
    p50Ms: round(median(list.map((sample) => sample.p50))),
    p99Ms: round(median(list.map((sample) => sample.p99))),
  }));
  return {
    clients,
    perSecond,
    relay,
    hub,
    addedP50Ms: round(hub.p50Ms - relay.p50Ms),
    addedP99Ms: round(hub.p99Ms - relay.p99Ms),
    load: load(),
  };
}
