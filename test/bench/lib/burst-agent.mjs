// An ACP agent that streams as fast as its pipe takes it: `burst <count> <bytes>` or `paced <count> <bytes> <perSecond>`.
// Plain Node. Every update holds its number and, where asked, the time it was written; the last one holds END_MARK.
export const END_MARK = "~END~";

const out = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const update = (sessionId, text) =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${text}"},"messageId":"m1"}}}\n`;

function text(index, bytes, mark) {
  const head = `${index} ${Date.now() * 1000 + Math.round((performance.now() % 1) * 1000)} ${mark}`;
  return head + "x".repeat(Math.max(0, bytes - head.length));
}

async function burst(sessionId, count, bytes) {
  let batch = "";
  for (let index = 1; index <= count; index += 1) {
    batch += update(sessionId, text(index, bytes, index === count ? END_MARK : ""));
    if (batch.length < 65_536 && index < count) continue;
    const isTaken = process.stdout.write(batch);
    batch = "";
    if (!isTaken) await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
}

async function paced(sessionId, count, bytes, perSecond) {
  const startedAt = performance.now();
  for (let index = 1; index <= count; index += 1) {
    const due = startedAt + (index * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    process.stdout.write(update(sessionId, text(index, bytes, index === count ? END_MARK : "")));
  }
}

let sessions = 0;
async function onMessage(message) {
  const { id, method, params } = message;
  if (method === "initialize") {
    out({
      jsonrpc: "2.0",
      id,
      result: { protocolVersion: 1, agentInfo: { name: "burst", version: "1" }, agentCapabilities: {} },
    });
  } else if (method === "session/new") {
    sessions += 1;
    out({ jsonrpc: "2.0", id, result: { sessionId: `s${sessions}` } });
  } else if (method === "session/prompt") {
    const [kind, ...numbers] = params.prompt[0].text.split(" ");
    await { burst, paced }[kind]?.(params.sessionId, ...numbers.map(Number));
    out({ jsonrpc: "2.0", id, result: { stopReason: "end_turn" } });
  } else if (id !== undefined && method !== undefined)
    out({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
}

if (process.argv[1]?.endsWith("burst-agent.mjs")) {
  let rest = "";
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") void onMessage(JSON.parse(line));
  });
  process.stdin.on("end", () => process.exit(0));
}
