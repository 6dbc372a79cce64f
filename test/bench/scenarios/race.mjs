// Questions a second through a race: every client answers every question at once, one wins, the agent gets one answer. Beside it the
// agent alone, answered on its own pipe.
import { attached } from "../lib/acp-client.mjs";
import { cpuOf, cpuSince, median, spread } from "../lib/measure.mjs";
import { AGENT, ended, lines, start } from "../lib/processes.mjs";
import { startHub } from "../lib/systems.mjs";

const answer = (id) =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId: "yes" } } });

/** The agent with nothing in between. */
function startAlone(node) {
  const child = start(node, [AGENT]);
  const answers = new Map();
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  lines(child, (line) => {
    const message = JSON.parse(line);
    if (message.method !== undefined) child.stdin.write(`${answer(message.id)}\n`);
    else answers.get(message.id)?.();
  });
  let nextId = 0;
  const ask = (text) => {
    nextId += 1;
    const prompt = [{ type: "text", text }];
    say({ id: nextId, method: "session/prompt", params: { sessionId: "s1", prompt } });
    return new Promise((resolve) => answers.set(nextId, resolve));
  };
  return {
    ask,
    async stop() {
      child.stdin.end();
      await ended(child);
    },
  };
}

function racer(client, counts) {
  client.listen((text) => {
    if (!text.includes('"session/request_permission"')) {
      if (text.includes('"$/cancel_request"')) counts.cancelled += 1;
      return;
    }
    counts.asked += 1;
    client.send(answer(JSON.parse(text).id));
  });
}

async function run({ clients: count, asks, rounds, node }) {
  const hub = await startHub({ node });
  const alone = startAlone(node ?? process.execPath);
  const counts = { asked: 0, cancelled: 0 };
  const clients = [];
  for (let index = 0; index < count; index += 1) {
    const client = await attached(hub.address, hub.sessionId);
    racer(client, counts);
    clients.push(client);
  }
  const samples = { alone: [], hub: [], cpu: [] };
  const failures = [];
  for (let index = -1; index < rounds; index += 1) {
    let startedAt = performance.now();
    await alone.ask(`ask ${asks}`);
    const aloneMs = performance.now() - startedAt;
    const before = cpuOf(hub.pids);
    startedAt = performance.now();
    const end = await hub.promptDone(`ask ${asks}`);
    const hubMs = performance.now() - startedAt;
    if (end.stopReason !== "end_turn") failures.push(end);
    if (index < 0) continue;
    samples.alone.push((asks * 1000) / aloneMs);
    samples.hub.push((asks * 1000) / hubMs);
    samples.cpu.push(cpuSince(hub.pids, before).server / asks);
  }
  for (const client of clients) client.close();
  await alone.stop();
  await hub.stop();
  return {
    clients: count,
    asked: counts.asked,
    expectedCopies: asks * count * (rounds + 1),
    failures: failures.length,
    alonePerSecond: median(samples.alone),
    perSecond: median(samples.hub),
    hubMicrosPerQuestion: median(samples.cpu),
    spread: spread(samples.hub),
  };
}

export const race = {
  summary: "questions a second through a race of 10 clients",
  defaults: { clients: 10, asks: 300, rounds: 5 },
  tiny: { clients: 3, asks: 5, rounds: 1 },
  run,
  budgets: () => [],
  rows: ({ clients, alonePerSecond, perSecond, hubMicrosPerQuestion, failures }) => [
    {
      clients,
      "alone/s": alonePerSecond,
      "race/s": perSecond,
      "hub µs/question": hubMicrosPerQuestion,
      failures,
    },
  ],
};
