// `http.compression`: bytes and CPU of the same stream to clients that take compressed frames and to clients that do not, at one hub.
// The text is prose: what compresses as text does.
import { interleave, openClients, streamRound, summary } from "../lib/rounds.mjs";
import { startHub } from "../lib/systems.mjs";

const OFFER = { "Sec-WebSocket-Extensions": "permessage-deflate" };

async function run({ work, clients, rounds, withText, node }) {
  const config = { http: { compression: true } };
  const plain = await startHub({ node, config });
  const packed = await startHub({ node, config });
  const systems = [plain, packed];
  const opened = [...(await openClients([plain], clients)), ...(await openClients([packed], clients, OFFER))];
  const results = [];
  for (const [bytes, updates] of work) {
    const one = { prompt: `prose ${updates} ${bytes}`, updates, withText };
    const samples = await interleave(systems, rounds, (system, at) => streamRound(system, opened[at], one));
    const [without, compressed] = samples.map(summary);
    results.push({
      bytes,
      updates,
      clients,
      without,
      compressed,
      share: compressed.bytesPerRound / without.bytesPerRound,
    });
  }
  for (const list of opened) for (const client of list) client.close();
  for (const system of systems) await system.stop();
  return results;
}

export const compression = {
  summary: "http.compression: bytes and CPU with and without",
  defaults: {
    work: [
      [300, 2000],
      [2000, 1000],
      [18_000, 300],
    ],
    clients: 10,
    rounds: 5,
  },
  tiny: {
    work: [
      [300, 10],
      [18_000, 5],
    ],
    clients: 2,
    rounds: 1,
    withText: true,
  },
  run,
  budgets: () => [],
  rows: (results) =>
    results.map(({ bytes, without, compressed, share }) => ({
      bytes,
      "bytes left": share,
      "plain µs": without.serverMicrosPerDelivery,
      "compressed µs": compressed.serverMicrosPerDelivery,
      "plain/s": without.deliveriesPerSecond,
      "compressed/s": compressed.deliveriesPerSecond,
    })),
};
