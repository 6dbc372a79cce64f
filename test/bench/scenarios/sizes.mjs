// Updates from a token to a megabyte, 10 clients: what a byte costs.
import { closeAll, interleave, openClients, streamRound, summary } from "../lib/rounds.mjs";
import { startHub, startRelay } from "../lib/systems.mjs";

export const sizes = {
  summary: "updates of 100 B, 300 B, 18 kB and 1 MB",
  defaults: {
    work: [
      [100, 5000],
      [300, 5000],
      [18_000, 1000],
      [1_000_000, 20],
    ],
    clients: 10,
    rounds: 5,
  },
  tiny: {
    work: [
      [100, 20],
      [18_000, 5],
      [1_000_000, 2],
    ],
    clients: 2,
    rounds: 1,
    withText: true,
  },
  async run({ work, clients, rounds, withText, node }) {
    const systems = [await startRelay({ node }), await startRelay({ node, way: "batched" }), await startHub({ node })];
    const opened = await openClients(systems, clients);
    const results = [];
    for (const [bytes, updates] of work) {
      const one = { prompt: `burst ${updates} ${bytes}`, updates, withText };
      const samples = await interleave(systems, rounds, (system, at) => streamRound(system, opened[at], one));
      const [relay, batched, hub] = samples.map(summary);
      const ratio = hub.deliveriesPerSecond / relay.deliveriesPerSecond;
      results.push({ bytes, updates, clients, relay, batched, hub, ratio });
    }
    await closeAll(systems, opened);
    return results;
  },
  budgets: () => [],
  rows: (results) =>
    results.map(({ bytes, updates, relay, batched, hub, ratio }) => ({
      bytes,
      updates,
      "relay/s": relay.deliveriesPerSecond,
      "batched/s": batched.deliveriesPerSecond,
      "hub/s": hub.deliveriesPerSecond,
      "x relay": ratio,
      "relay µs": relay.serverMicrosPerDelivery,
      "hub µs": hub.serverMicrosPerDelivery,
      "bridge µs": hub.bridgeMicrosPerUpdate,
    })),
};
