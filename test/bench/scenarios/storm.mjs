// The hub is killed and started again under its clients: all of them come back at once with their cursors, while the agent goes on.
// Told: until when all have caught up, what it takes in memory, and the longest time the editor saw nothing.
import { initialized, load } from "../lib/acp-client.mjs";
import { cpuMicros, peakRssMb, sleep } from "../lib/measure.mjs";
import { startHub } from "../lib/systems.mjs";

async function comeBack(hub, cursor) {
  for (;;) {
    try {
      const client = await initialized(hub.address);
      const result = await load(client, hub.sessionId, { cursor });
      return { client, verdict: result._meta["acp-hub"].verdict };
    } catch {
      // Refused while the hub starts, or while the bridge is on its way back.
      await sleep(50);
    }
  }
}

async function run({ clients: count, seconds, perSecond, node }) {
  const hub = await startHub({ node });
  const first = [];
  for (let at = 0; at < count; at += 50)
    first.push(
      ...(await Promise.all(Array.from({ length: Math.min(50, count - at) }, () => initialized(hub.address)))),
    );
  const [{ cursor }] = (await Promise.all(first.map((client) => load(client, hub.sessionId)))).map(
    (result) => result._meta["acp-hub"],
  );
  hub.editor.watchGaps();
  const updates = perSecond * seconds;
  const stream = hub.promptDone(`paced ${updates} 300 ${perSecond}`);
  await sleep((seconds * 1000) / 3);
  const quietGapMs = hub.editor.longestGapMs;
  hub.editor.watchGaps();
  const downAt = performance.now();
  await hub.restartHub();
  const upAt = performance.now();
  const back = await Promise.all(first.map(() => comeBack(hub, cursor)));
  const caughtUpAt = performance.now();
  const cpuMs = cpuMicros(hub.pids.server) / 1000;
  const peakMb = peakRssMb(hub.pids.server);
  await stream;
  const editorGapMs = hub.editor.longestGapMs;
  const editorUpdates = hub.editor.updates;
  for (const { client } of back) client.close();
  for (const client of first) client.close();
  await hub.stop();
  return {
    clients: count,
    restartMs: upAt - downAt,
    caughtUpMs: caughtUpAt - upAt,
    hubCpuMs: cpuMs,
    peakMb,
    exact: back.filter((each) => each.verdict === "ok").length,
    quietGapMs,
    editorGapMs,
    editorUpdates,
    updates,
  };
}

export const storm = {
  summary: "500 clients come back at once to a hub that was killed",
  defaults: { clients: 500, seconds: 9, perSecond: 200 },
  tiny: { clients: 5, seconds: 3, perSecond: 50 },
  run,
  budgets: () => [],
  rows: (result) => [
    {
      clients: result.clients,
      "restart ms": result.restartMs,
      "all caught up ms": result.caughtUpMs,
      "hub CPU ms": result.hubCpuMs,
      "peak MB": result.peakMb,
      "by cursor": result.exact,
      "editor's longest gap ms": result.editorGapMs,
      "before ms": result.quietGapMs,
    },
  ],
};
