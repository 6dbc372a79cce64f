// Paced stream: what the two hops add to the time from the agent's write to the client, beside the bare relay in the same rounds.
import { closeAll, interleave, openClients, streamRound, summary } from "../lib/rounds.mjs";
import { startHub, startRelay } from "../lib/systems.mjs";

/** Beyond this many deliveries a second the driver is what is measured. */
const DELIVERIES_MAX = 20_000;

async function atCount(clients, { perSecond: wanted, seconds, rounds, withText, node }) {
  const perSecond = Math.max(1, Math.min(wanted, Math.floor(DELIVERIES_MAX / clients)));
  const updates = Math.ceil(perSecond * seconds);
  const systems = [await startRelay({ node }), await startHub({ node })];
  const opened = await openClients(systems, clients);
  const work = { prompt: `paced ${updates} 300 ${perSecond}`, updates, withLatency: true, withText };
  const samples = await interleave(systems, rounds, (system, at) => streamRound(system, opened[at], work));
  await closeAll(systems, opened);
  const [relay, hub] = samples.map(summary);
  return {
    clients,
    perSecond,
    relay,
    hub,
    addedP50Ms: hub.p50Ms - relay.p50Ms,
    addedP99Ms: hub.p99Ms - relay.p99Ms,
  };
}

function budgets(results) {
  const fifty = results.find((each) => each.clients === 50);
  if (fifty === undefined) return [];
  return [
    ["50 clients at 200/s: added p50, ms", fifty.addedP50Ms, "max", 0.25],
    ["50 clients at 200/s: added p99, ms", fifty.addedP99Ms, "max", 2],
  ];
}

export const paced = {
  summary: "200 updates a second, 1 to 1,000 clients: latency",
  defaults: { counts: [1, 10, 50, 100, 1000], perSecond: 200, seconds: 2, rounds: 5 },
  tiny: { counts: [2], perSecond: 100, seconds: 0.2, rounds: 1, withText: true },
  async run(options) {
    const results = [];
    for (const count of options.counts) results.push(await atCount(count, options));
    return results;
  },
  budgets,
  rows: (results) =>
    results.map(({ clients, perSecond, relay, hub, addedP50Ms, addedP99Ms }) => ({
      clients,
      "per s": perSecond,
      "relay p50 ms": relay.p50Ms,
      "hub p50 ms": hub.p50Ms,
      "added p50": addedP50Ms,
      "relay p99 ms": relay.p99Ms,
      "hub p99 ms": hub.p99Ms,
      "added p99": addedP99Ms,
      "relay µs": relay.serverMicrosPerDelivery,
      "hub µs": hub.serverMicrosPerDelivery,
    })),
};
