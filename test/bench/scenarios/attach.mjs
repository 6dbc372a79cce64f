// Attaching to a long session: time to the first frame and to the whole replay, and how many frames it takes. Beside it the time
// the bare relay needs to send the same updates one by one.
import { initialized, load } from "../lib/acp-client.mjs";
import { agentText } from "../lib/agent-text.mjs";
import { isComplete } from "../lib/counting-client.mjs";
import { median, round, spread } from "../lib/measure.mjs";
import { streamRound } from "../lib/rounds.mjs";
import { startHub, startRelay } from "../lib/systems.mjs";

async function once(hub, updates) {
  const client = await initialized(hub.address);
  client.round();
  const texts = [];
  let firstAt = 0;
  const startedAt = performance.now();
  await load(client, hub.sessionId, {}, (text) => {
    firstAt ||= performance.now();
    texts.push(text);
  });
  const allMs = performance.now() - startedAt;
  client.close();
  const said = texts.map((text) => agentText(JSON.parse(text))).join("");
  return {
    firstMs: firstAt - startedAt,
    allMs,
    frames: client.frames - 1,
    bytes: client.bytes,
    isComplete: isComplete(said, updates),
  };
}

export const attach = {
  summary: "attaching to a session of 10,000 updates",
  defaults: { updates: 10_000, rounds: 9 },
  tiny: { updates: 200, rounds: 1 },
  async run({ updates, rounds, node }) {
    const hub = await startHub({ node });
    const relay = await startRelay({ node });
    const listener = await relay.client();
    await hub.promptDone(`burst ${updates} 300`);
    const samples = [];
    const relayed = [];
    for (let index = -1; index < rounds; index += 1) {
      const sample = await once(hub, updates);
      const sent = await streamRound(relay, [listener], { prompt: `burst ${updates} 300`, updates });
      if (index < 0) continue;
      samples.push(sample);
      relayed.push((updates / sent.perSecond) * 1000);
    }
    listener.close();
    await relay.stop();
    await hub.stop();
    const of = (name) => median(samples.map((sample) => sample[name]));
    return {
      updates,
      rounds,
      firstMs: of("firstMs"),
      allMs: of("allMs"),
      frames: of("frames"),
      bytes: of("bytes"),
      relayMs: round(median(relayed)),
      complete: samples.filter((sample) => sample.isComplete).length,
      spread: spread(samples.map((sample) => sample.allMs)),
    };
  },
  budgets: ({ updates, firstMs, allMs, frames }) => [
    ["attach to 10,000 updates: first frame, ms", firstMs, "max", 20],
    ["attach to 10,000 updates: whole replay, ms", allMs, "max", 50],
    ["attach to 10,000 updates: frames, % of the updates", (frames / updates) * 100, "max", 1],
  ],
  rows: ({ updates, firstMs, allMs, frames, bytes, relayMs }) => [
    { updates, "first ms": firstMs, "all ms": allMs, frames, MB: bytes / 1e6, "relay ms": relayMs },
  ],
};
