// Burst fan-out: one agent as fast as it can, N clients; the bare relay and the batching one (the ceiling) in the same rounds.
import { rssMb } from "../lib/measure.mjs";
import { closeAll, interleave, openClients, streamRound, summary } from "../lib/rounds.mjs";
import { startHub, startRelay } from "../lib/systems.mjs";

const BYTES = 300;

async function atCount(count, { updates, rounds, warm, withText, node }) {
  const systems = [await startRelay({ node }), await startRelay({ node, way: "batched" }), await startHub({ node })];
  const opened = await openClients(systems, count);
  const work = { prompt: `burst ${updates} ${BYTES}`, updates, withText };
  const samples = await interleave(systems, rounds, (system, at) => streamRound(system, opened[at], work), warm);
  const [relay, batched, hub] = samples.map(summary);
  const rss = { relay: rssMb(systems[0].pids.server), hub: rssMb(systems[2].pids.server) };
  const result = {
    clients: count,
    updates,
    relay,
    batched,
    hub,
    coldMicrosPerDelivery: { relay: samples.cold[0].serverMicros, hub: samples.cold[2].serverMicros },
    ratio: hub.deliveriesPerSecond / relay.deliveriesPerSecond,
    ofCeiling: hub.deliveriesPerSecond / batched.deliveriesPerSecond,
    rssMb: { ...rss, bridge: rssMb(systems[2].pids.bridge) },
  };
  await closeAll(systems, opened);
  return result;
}

/** The relay's rounds take seconds, not minutes, however many clients there are. */
const DELIVERIES_MAX = 250_000;
const updatesFor = (count, updates) => Math.min(updates, Math.ceil(DELIVERIES_MAX / count));
/** Few clients are quick, and their rounds lie far apart. */
const roundsFor = (count, rounds) => (count <= 10 ? rounds * 2 - 1 : rounds);
/** The engine compiles on the way to some 40,000 updates: a hub lives for weeks. With many clients it is the kernel that counts. */
const warmFor = (count, rounds) => (count <= 10 ? rounds * 2 - 2 : 1) || 1;

function budgets(results, { isNewNode }) {
  const of = (count) => results.find((each) => each.clients === count);
  const [one, ten, hundred] = [of(1), of(10), of(100)];
  return [
    one && ["1 client: hub CPU per delivery, as a share of the relay's", share(one), "max", 1],
    one && ["1 client: deliveries/s over the relay's", one.ratio, "min", 0.8],
    ten && ["10 clients: deliveries/s over the relay's", ten.ratio, "min", isNewNode ? 3 : 2.5],
    ten && ["10 clients: hub µs per delivery", ten.hub.serverMicrosPerDelivery, "max", 1],
    hundred && ["100 clients: deliveries/s over the relay's", hundred.ratio, "min", 8],
    hundred && ["100 clients: hub µs per delivery", hundred.hub.serverMicrosPerDelivery, "max", 0.4],
  ].filter(Boolean);
}

const share = ({ hub, relay }) => hub.serverMicrosPerDelivery / relay.serverMicrosPerDelivery;

export const burst = {
  summary: "one agent at full speed, 1 to 1,000 clients",
  defaults: { counts: [1, 10, 50, 100, 1000], updates: 5000, rounds: 5 },
  tiny: { counts: [1, 3], updates: 50, rounds: 1, withText: true },
  async run(options) {
    const results = [];
    for (const count of options.counts) {
      const size = {
        rounds: roundsFor(count, options.rounds),
        warm: warmFor(count, options.rounds),
        updates: updatesFor(count, options.updates),
      };
      results.push(await atCount(count, { ...options, ...size }));
    }
    return results;
  },
  budgets,
  rows: (results) =>
    results.map(({ clients, relay, batched, hub, coldMicrosPerDelivery: cold, ratio, ofCeiling, rssMb: rss }) => ({
      clients,
      "relay/s": relay.deliveriesPerSecond,
      "batched/s": batched.deliveriesPerSecond,
      "hub/s": hub.deliveriesPerSecond,
      "x relay": ratio,
      "of ceiling": ofCeiling,
      "relay µs": relay.serverMicrosPerDelivery,
      "cold µs": cold.hub,
      "hub µs": hub.serverMicrosPerDelivery,
      "bridge µs": hub.bridgeMicrosPerUpdate,
      "agent µs": hub.agentMicrosPerUpdate,
      "hub MB": rss.hub,
      "bridge MB": rss.bridge,
      "hub ±": hub.spread,
    })),
};
