// An ACP agent that does what its prompt says: `burst <count> <bytes>` as fast as its pipe takes it, `paced <count> <bytes>
// <perSecond>`, `prose <count> <bytes>` with text that compresses as text does, or `ask <count>`: permissions, one after the other. Plain Node. Every update holds its number and the
// time it was written; the last one of a prompt holds END_MARK.
import { micros } from "./measure.mjs";

export const END_MARK = "~END~";

const out = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const update = (sessionId, text) =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${text}"},"messageId":"m1"}}}\n`;

function text(index, bytes, mark) {
  const head = `${index} ${micros()} ${mark}`;
  return head + "x".repeat(Math.max(0, bytes - head.length));
}

/** Resolves when the pipe takes more. */
function written(batch) {
  if (process.stdout.write(batch)) return undefined;
  return new Promise((resolve) => process.stdout.once("drain", resolve));
}

async function burst(sessionId, count, bytes) {
  let batch = "";
  for (let index = 1; index <= count; index += 1) {
    batch += update(sessionId, text(index, bytes, index === count ? END_MARK : ""));
    if (batch.length < 65_536 && index < count) continue;
    await written(batch);
    batch = "";
  }
}

/** Pages of this project's own words. */
async function prose(sessionId, count, bytes) {
  const { readFileSync } = await import("node:fs");
  const words = ["README.md", "docs/architecture.md", "docs/operations.md"]
    .map((name) => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8"))
    .join("\n");
  const pages = words.repeat(Math.ceil((bytes * 2) / words.length) + 1);
  for (let index = 1; index <= count; index += 1) {
    const head = `${index} ${micros()} ${index === count ? END_MARK : ""}`;
    const from = (index * 997) % words.length;
    // A line end, so that no digit of it stands before the next one's number.
    const said = `${head}${pages.slice(from, from + bytes - head.length - 1)}\n`;
    await written(update(sessionId, JSON.stringify(said).slice(1, -1)));
  }
}

async function paced(sessionId, count, bytes, perSecond) {
  const startedAt = performance.now();
  for (let index = 1; index <= count; ) {
    const due = Math.min(count, Math.floor(((performance.now() - startedAt) * perSecond) / 1000));
    let batch = "";
    for (; index <= due; index += 1) batch += update(sessionId, text(index, bytes, index === count ? END_MARK : ""));
    if (batch !== "") await written(batch);
    if (index <= count) await new Promise((resolve) => setTimeout(resolve, Math.max(1, 1000 / perSecond)));
  }
}

const asked = new Map();
let lastAsk = 0;

async function ask(sessionId, count) {
  const options = [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ];
  for (let index = 1; index <= count; index += 1) {
    lastAsk += 1;
    const id = `ask-${lastAsk}`;
    const toolCall = { toolCallId: `t${lastAsk}`, title: `step ${index}`, rawInput: { index } };
    const answer = new Promise((resolve) => asked.set(id, resolve));
    out({ jsonrpc: "2.0", id, method: "session/request_permission", params: { sessionId, toolCall, options } });
    const { result } = await answer;
    if (result?.outcome?.optionId !== "yes") throw new Error(`not allowed: ${JSON.stringify(result)}`);
  }
}

const WORK = { burst, paced, prose, ask };
let sessions = 0;
async function onMessage(message) {
  const { id, method, params } = message;
  if (method === "initialize") {
    const agentInfo = { name: "burst", version: "1" };
    out({ jsonrpc: "2.0", id, result: { protocolVersion: 1, agentInfo, agentCapabilities: {} } });
  } else if (method === "session/new") {
    sessions += 1;
    out({ jsonrpc: "2.0", id, result: { sessionId: `s${sessions}` } });
  } else if (method === "session/prompt") {
    const [kind, ...numbers] = params.prompt[0].text.split(" ");
    await WORK[kind]?.(params.sessionId, ...numbers.map(Number));
    out({ jsonrpc: "2.0", id, result: { stopReason: "end_turn" } });
  } else if (method === undefined) {
    asked.get(id)?.(message);
    asked.delete(id);
  } else if (id !== undefined) out({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
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
