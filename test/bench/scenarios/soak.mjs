// A long paced stream with clients that come and go: memory over time. Named alone: `npm run bench -- soak --minutes 60`.
import { rssMb, sleep, slope } from "../lib/measure.mjs";
import { startHub } from "../lib/systems.mjs";

/** Memory grows until journals are full and code is warm; what counts is the line behind that. */
const WARM_SHARE = 0.35;
/** A full journal breathes: a quarter goes at a time. Of each of so many stretches the lowest sample counts. */
const STRETCHES = 6;

/** The lowest sample of each stretch, as [minute, kilobytes]. */
function troughs(samples, name) {
  const size = Math.max(1, Math.floor(samples.length / STRETCHES));
  const stretches = Array.from({ length: Math.ceil(samples.length / size) }, (_, at) =>
    samples.slice(at * size, (at + 1) * size),
  );
  const lowest = (list) => list.reduce((low, sample) => (sample[name] < low[name] ? sample : low));
  return stretches
    .filter((list) => list.length === size)
    .map((list) => {
      const low = lowest(list);
      return [low.minute, low[name] * 1024];
    });
}

async function run({ minutes, clients: count, perSecond, sampleMs, node }) {
  const hub = await startHub({ node });
  const clients = await Promise.all(Array.from({ length: count }, hub.client));
  const endAt = Date.now() + minutes * 60_000;
  const startedAt = Date.now();
  const samples = [];
  let streamed = 0;
  let churned = 0;
  while (Date.now() < endAt) {
    const updates = Math.max(1, Math.round((perSecond * sampleMs) / 1000));
    await hub.promptDone(`paced ${updates} 300 ${perSecond}`);
    streamed += updates;
    clients.shift()?.close();
    clients.push(await hub.client());
    churned += 1;
    const minute = (Date.now() - startedAt) / 60_000;
    samples.push({ minute, hub: rssMb(hub.pids.server), bridge: rssMb(hub.pids.bridge) });
  }
  for (const client of clients) client.close();
  await sleep(50);
  await hub.stop();
  const warm = samples.filter(({ minute }) => minute >= minutes * WARM_SHARE);
  const kbPerMinute = (name) => slope(troughs(warm, name));
  const everyMinute = samples.filter(
    ({ minute }, at) => Math.floor(minute) !== Math.floor(samples[at - 1]?.minute ?? -1),
  );
  return {
    minutes,
    updates: streamed,
    churned,
    hubKbPerMinute: kbPerMinute("hub"),
    bridgeKbPerMinute: kbPerMinute("bridge"),
    hubMb: samples.at(-1)?.hub,
    bridgeMb: samples.at(-1)?.bridge,
    samples: samples.length,
    everyMinute,
  };
}

export const soak = {
  summary: "an hour of stream with clients that come and go (--minutes)",
  defaults: { minutes: 60, clients: 10, perSecond: 200, sampleMs: 2000 },
  tiny: { minutes: 0.02, clients: 2, perSecond: 100, sampleMs: 300 },
  isLong: true,
  run,
  budgets: () => [],
  rows: (result) => [
    {
      minutes: result.minutes,
      updates: result.updates,
      "hub MB": result.hubMb,
      "hub kB/min": result.hubKbPerMinute,
      "bridge MB": result.bridgeMb,
      "bridge kB/min": result.bridgeKbPerMinute,
    },
  ],
};
