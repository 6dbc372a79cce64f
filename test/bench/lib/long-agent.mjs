// An ACP agent for what a reader sees: `items <count>` makes a long session at once (prose, tool calls and diffs in turn),
// `paced <count> <perSecond>` streams prose into it, `mixed <count> <perSecond>` what an agent at work writes. Plain Node.
import { mixedUpdate } from "./mixed-stream.mjs";

const out = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const update = (sessionId, body) =>
  out({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: body } });

const PROSE = "The retry logic **never resets** after a success, so `attempt` grows until nobody connects any more. ";

function item(index) {
  if (index % 2 === 0) {
    const text = `Step ${index}. ${PROSE.repeat(1 + (index % 5))}`;
    return { sessionUpdate: "agent_message_chunk", messageId: `m${index}`, content: { type: "text", text } };
  }
  const body = { toolCallId: `t${index}`, title: `Edit file ${index}`, kind: "edit", status: "completed" };
  const diff = { type: "diff", path: `src/${index}.ts`, oldText: "const a = 1;\n", newText: "const b = 2;\n" };
  return { sessionUpdate: "tool_call", ...body, content: [diff] };
}

/** `count` steps at their times; those that are late come at once. */
async function stream(count, perSecond, step) {
  const startedAt = performance.now();
  for (let index = 1; index <= count; index += 1) {
    const wait = startedAt + (index * 1000) / perSecond - performance.now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    step(index);
  }
}

function prose(index, run) {
  // A new paragraph now and then, and a new message every 200 pieces, as models write.
  const text = index % 40 === 0 ? "\n\n" : `word${index} `;
  const messageId = `p${run}-${Math.floor(index / 200)}`;
  return { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } };
}

const STREAMS = { paced: prose, mixed: mixedUpdate };

let runs = 0;
async function onMessage({ id, method, params }) {
  const answer = (result) => out({ jsonrpc: "2.0", id, result });
  if (method === "initialize") {
    return answer({ protocolVersion: 1, agentInfo: { name: "long", version: "1" }, agentCapabilities: {} });
  }
  if (method === "session/new") return answer({ sessionId: "s1" });
  if (method !== "session/prompt") return undefined;
  const [kind, ...numbers] = params.prompt[0].text.split(" ");
  const [count = 0, perSecond = 30] = numbers.map(Number);
  runs += 1;
  if (kind === "items") for (let index = 0; index < count; index += 1) update(params.sessionId, item(index));
  else await stream(count, perSecond, (index) => update(params.sessionId, STREAMS[kind](index, runs)));
  return answer({ stopReason: "end_turn" });
}

let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) if (line.trim() !== "") void onMessage(JSON.parse(line));
});
process.stdin.on("end", () => process.exit(0));
