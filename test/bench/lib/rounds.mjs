// Rounds of several systems in turn, so that whatever else the machine does falls on all of them alike.
import { isComplete } from "./counting-client.mjs";
import { cpuOf, cpuSince, median, percentile, round, sleep, spread } from "./measure.mjs";

/** What a system still does behind the last delivery belongs to its round. */
const SETTLE_MS = 60;
/** Past so many, further clients' latencies are not looked at: the driver would be what is measured. */
const LATENCY_CLIENTS = 50;

/** One prompt, from its start to the last frame of the last client. */
export async function streamRound(system, clients, { prompt, updates, withLatency = false, withText = false }) {
  const done = clients.map((client, index) =>
    client.round({ withLatency: withLatency && index < LATENCY_CLIENTS, withText }),
  );
  const before = cpuOf(system.pids);
  const startedAt = performance.now();
  system.prompt(prompt);
  await Promise.all(done);
  const seconds = (performance.now() - startedAt) / 1000;
  await sleep(SETTLE_MS);
  const deliveries = updates * clients.length;
  const cpu = cpuSince(system.pids, before);
  const latencies = clients.flatMap((client) => client.latencies ?? []);
  return {
    perSecond: deliveries / seconds,
    serverMicros: cpu.server / deliveries,
    bridgeMicros: (cpu.bridge ?? 0) / updates,
    agentMicros: cpu.agent / updates,
    frames: clients.reduce((sum, client) => sum + client.frames, 0),
    bytes: clients.reduce((sum, client) => sum + client.bytes, 0),
    ...(withText && { complete: clients.filter((client) => isComplete(client.said, updates)).length }),
    p50Ms: percentile(latencies, 50) / 1000,
    p99Ms: percentile(latencies, 99) / 1000,
  };
}

/**
 * `once(system, at)` for each system in turn, `rounds` times, after `warm` rounds that do not count. The very first is given back
 * as `cold`: code that the engine has not compiled yet costs several times as much.
 */
export async function interleave(systems, rounds, once, warm = 1) {
  const samples = systems.map(() => []);
  const cold = [];
  for (let index = -warm; index < rounds; index += 1) {
    for (const [at, system] of systems.entries()) {
      const sample = await once(system, at);
      if (index === -warm) cold.push(sample);
      if (index >= 0) samples[at].push(sample);
    }
  }
  return Object.assign(samples, { cold });
}

/** The medians of one system's rounds. */
export function summary(samples) {
  const of = (name, digits) => round(median(samples.map((sample) => sample[name])), digits);
  return {
    deliveriesPerSecond: of("perSecond", 0),
    serverMicrosPerDelivery: of("serverMicros", 3),
    bridgeMicrosPerUpdate: of("bridgeMicros"),
    agentMicrosPerUpdate: of("agentMicros"),
    framesPerRound: of("frames", 0),
    bytesPerRound: of("bytes", 0),
    p50Ms: of("p50Ms"),
    p99Ms: of("p99Ms"),
    ...(samples.every((sample) => sample.complete !== undefined) && {
      completeClients: Math.min(...samples.map((sample) => sample.complete)),
    }),
    spread: spread(samples.map((sample) => sample.serverMicros)),
  };
}

/** Opens `count` clients on each system. */
export async function openClients(systems, count, options) {
  const opened = [];
  for (const system of systems) {
    const clients = [];
    // A few at a time: a thousand handshakes at once are a test of something else.
    for (let at = 0; at < count; at += 50)
      clients.push(
        ...(await Promise.all(Array.from({ length: Math.min(50, count - at) }, () => system.client(options)))),
      );
    opened.push(clients);
  }
  return opened;
}

export async function closeAll(systems, opened) {
  for (const clients of opened) for (const client of clients) client.close();
  for (const system of systems) await system.stop();
}
