// Back after a gap: what a client that brings its cursor waits for, after a second, a minute and an hour of stream. Beside it the
// time the bare relay needs to send as many updates one by one.
import { initialized, load } from "../lib/acp-client.mjs";
import { agentText } from "../lib/agent-text.mjs";
import { median, round, sleep } from "../lib/measure.mjs";
import { streamRound } from "../lib/rounds.mjs";
import { startHub, startRelay } from "../lib/systems.mjs";

/** What an agent that writes quickly comes to. */
const UPDATES_PER_SECOND = 30;
const BYTES = 300;
const PIECE = 9000;
const PIECE_MS = 200;

/** Tells the session's cursor. */
async function cursorOf(hub) {
  const client = await initialized(hub.address);
  const result = await load(client, hub.sessionId, { history: "none" });
  client.close();
  return result._meta["acp-hub"].cursor;
}

async function comeBack(hub, cursor) {
  const client = await initialized(hub.address);
  client.round();
  const startedAt = performance.now();
  let firstAt = 0;
  let chars = 0;
  const result = await load(client, hub.sessionId, { cursor }, (text) => {
    firstAt ||= performance.now();
    chars += agentText(JSON.parse(text)).length;
  });
  const allMs = performance.now() - startedAt;
  client.close();
  const { verdict } = result._meta["acp-hub"];
  return {
    firstMs: (firstAt || performance.now()) - startedAt,
    allMs,
    frames: client.frames - 1,
    bytes: client.bytes,
    chars,
    verdict,
  };
}

async function run({ seconds, rounds, node }) {
  const hub = await startHub({ node });
  const relay = await startRelay({ node });
  const listener = await relay.client();
  const longest = Math.max(...seconds) * UPDATES_PER_SECOND;
  // In pieces: an hour at once would outrun what a bridge keeps for a hub that has not written it down yet.
  for (let left = longest + 100; left > 0; left -= PIECE) {
    await hub.promptDone(`burst ${Math.min(left, PIECE)} ${BYTES}`);
    await sleep(PIECE_MS);
  }
  const end = await cursorOf(hub);
  const results = [];
  for (const gap of seconds) {
    const updates = gap * UPDATES_PER_SECOND;
    const sent = await streamRound(relay, [listener], { prompt: `burst ${updates} ${BYTES}`, updates });
    const samples = [];
    // The turn's own end stands behind the last update; a few of the numbers between are turns, not updates.
    for (let index = 0; index < rounds; index += 1)
      samples.push(await comeBack(hub, { epoch: end.epoch, seq: end.seq - 1 - updates }));
    const of = (name) => median(samples.map((sample) => sample[name]));
    results.push({
      gapSeconds: gap,
      updates,
      firstMs: of("firstMs"),
      allMs: of("allMs"),
      frames: of("frames"),
      bytes: of("bytes"),
      relayMs: round((updates / sent.perSecond) * 1000),
      relayBytes: sent.bytes,
      complete: samples.filter((sample) => sample.chars >= updates * BYTES * 0.99 && sample.verdict === "ok").length,
      rounds,
    });
  }
  listener.close();
  await relay.stop();
  await hub.stop();
  return results;
}

export const catchup = {
  summary: "catch-up by cursor after 1 s, 60 s and 1 h of stream",
  defaults: { seconds: [1, 60, 3600], rounds: 5 },
  tiny: { seconds: [1, 5], rounds: 1 },
  run,
  budgets: () => [],
  rows: (results) =>
    results.map(({ gapSeconds, updates, firstMs, allMs, frames, bytes, relayMs, relayBytes }) => ({
      "gap s": gapSeconds,
      updates,
      "first ms": firstMs,
      "all ms": allMs,
      frames,
      MB: bytes / 1e6,
      "relay ms": relayMs,
      "relay MB": relayBytes / 1e6,
    })),
};
