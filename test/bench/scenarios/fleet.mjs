// Many sessions on many bridges, one client each, all of them streaming; beside it as many bare relays as there are bridges.
import { attached, known } from "../lib/acp-client.mjs";
import { isComplete } from "../lib/counting-client.mjs";
import { cpuOf, cpuSince, median, percentile, rssMb, spread } from "../lib/measure.mjs";
import { startHub, startRelay } from "../lib/systems.mjs";

async function openSessions(hub, perBridge) {
  const sessions = [];
  for (const bridge of hub.bridges) {
    for (let index = 0; index < perBridge; index += 1) {
      const sessionId = index === 0 ? bridge.sessionId : await bridge.editor.newSession();
      await known(hub.addressOf(bridge), sessionId);
      const client = await attached(hub.addressOf(bridge), sessionId);
      sessions.push({ client, start: (text) => void bridge.editor.prompt(sessionId, text) });
    }
  }
  return sessions;
}

async function round(streams, pids, prompt, withText) {
  const done = streams.map(({ client }) => client.round({ withLatency: true, withText }));
  const before = cpuOf(pids);
  for (const { start } of streams) start(prompt);
  await Promise.all(done);
  const cpu = cpuSince(pids, before);
  const latencies = streams.flatMap(({ client }) => client.latencies);
  return {
    micros: Object.values(cpu).reduce((sum, each) => sum + each, 0),
    p50Ms: percentile(latencies, 50) / 1000,
    p99Ms: percentile(latencies, 99) / 1000,
  };
}

const middle = (samples, deliveries) => ({
  microsPerDelivery: median(samples.map((sample) => sample.micros)) / deliveries,
  p50Ms: median(samples.map((sample) => sample.p50Ms)),
  p99Ms: median(samples.map((sample) => sample.p99Ms)),
  spread: spread(samples.map((sample) => sample.micros)),
});

async function run({ bridges, perBridge, perSecond, seconds, rounds, withText, node }) {
  const hub = await startHub({ node, bridges });
  const sessions = await openSessions(hub, perBridge);
  const relays = [];
  for (let index = 0; index < bridges; index += 1) relays.push(await startRelay({ node }));
  const listeners = [];
  // A relay has one session: its stream is as dense as those of a bridge together, and goes to one client.
  for (const relay of relays) listeners.push({ client: await relay.client(), start: relay.prompt });
  const updates = perSecond * seconds;
  const hubPids = { server: hub.pids.server };
  const relayPids = Object.fromEntries(relays.map((relay, index) => [`relay${index}`, relay.pids.server]));
  const samples = { hub: [], relay: [] };
  for (let index = -1; index < rounds; index += 1) {
    const ofRelay = await round(
      listeners,
      relayPids,
      `paced ${updates * perBridge} 300 ${perSecond * perBridge}`,
      withText,
    );
    const ofHub = await round(sessions, hubPids, `paced ${updates} 300 ${perSecond}`, withText);
    if (index < 0) continue;
    samples.relay.push(ofRelay);
    samples.hub.push(ofHub);
  }
  const deliveries = updates * sessions.length;
  const result = {
    bridges,
    sessions: sessions.length,
    perSecond: perSecond * sessions.length,
    relays: middle(samples.relay, deliveries),
    hub: middle(samples.hub, deliveries),
    rssMb: { hub: rssMb(hub.pids.server), bridge: rssMb(hub.pids.bridge) },
    ...(withText && { completeSessions: sessions.filter(({ client }) => isComplete(client.said, updates)).length }),
  };
  for (const { client } of [...sessions, ...listeners]) client.close();
  for (const relay of relays) await relay.stop();
  await hub.stop();
  return result;
}

export const fleet = {
  summary: "100 sessions on 10 bridges, all streaming",
  defaults: { bridges: 10, perBridge: 10, perSecond: 20, seconds: 2, rounds: 5 },
  tiny: { bridges: 2, perBridge: 2, perSecond: 50, seconds: 1, rounds: 1, withText: true },
  run,
  budgets: () => [],
  rows: ({ sessions, perSecond, relays, hub, rssMb: rss }) => [
    {
      sessions,
      "per s": perSecond,
      "relays µs": relays.microsPerDelivery,
      "hub µs": hub.microsPerDelivery,
      "relays p50 ms": relays.p50Ms,
      "hub p50 ms": hub.p50Ms,
      "relays p99 ms": relays.p99Ms,
      "hub p99 ms": hub.p99Ms,
      "hub MB": rss.hub,
      "bridge MB": rss.bridge,
    },
  ],
};
