// Clients that join while the agent streams: each has to get the whole session, in order, nothing twice.
import { initialized, load } from "../lib/acp-client.mjs";
import { agentText } from "../lib/agent-text.mjs";
import { isComplete } from "../lib/counting-client.mjs";
import { median, percentile, sleep } from "../lib/measure.mjs";
import { startHub } from "../lib/systems.mjs";

/** Loads the session and reads on to the end of the stream. */
async function join(hub, updates) {
  const client = await initialized(hub.address);
  let said = "";
  let ordered = true;
  let last = 0;
  let hasReplay = false;
  const take = (text) => {
    const message = JSON.parse(text);
    const stamp = message.params?._meta?.["acp-hub"];
    if (stamp === undefined || message.method !== "session/update") return;
    // On a busy machine a second passes before the load: by then it watches, and what came so is not part of what it loads (B1).
    if (stamp.replay === true && !hasReplay) {
      hasReplay = true;
      said = "";
      last = 0;
    }
    if ((stamp.from ?? stamp.seq) <= last) ordered = false;
    last = stamp.seq;
    said += agentText(message);
  };
  const startedAt = performance.now();
  await load(client, hub.sessionId, {}, take);
  const loadMs = performance.now() - startedAt;
  const done = client.round();
  client.listen(take);
  const isOver = said.includes("~END~");
  if (!isOver) await done;
  client.close();
  return { isRight: ordered && isComplete(said, updates), isMidStream: !isOver, loadMs };
}

async function run({ joins, perSecond, seconds, node }) {
  const hub = await startHub({ node });
  const updates = perSecond * seconds;
  const stream = hub.promptDone(`paced ${updates} 300 ${perSecond}`);
  const readers = [];
  for (let index = 0; index < joins; index += 1) {
    await sleep((seconds * 800) / joins);
    readers.push(join(hub, updates));
  }
  const results = await Promise.all(readers);
  await stream;
  await hub.stop();
  return {
    joins,
    perSecond,
    complete: results.filter((each) => each.isRight).length,
    midStream: results.filter((each) => each.isMidStream).length,
    loadMs: median(results.map((each) => each.loadMs)),
    loadP99Ms: percentile(
      results.map((each) => each.loadMs),
      99,
    ),
  };
}

export const joins = {
  summary: "100 clients that join a stream of 8,000 updates a second",
  defaults: { joins: 100, perSecond: 8000, seconds: 3 },
  tiny: { joins: 4, perSecond: 500, seconds: 0.6 },
  run,
  budgets: (result) => [["joins that came out whole and in order, of all", result.complete / result.joins, "min", 1]],
  rows: ({ joins: count, complete, midStream, loadMs, loadP99Ms }) => [
    { joins: count, complete, "in mid-stream": midStream, "load ms": loadMs, "load p99 ms": loadP99Ms },
  ],
};
