// The baselines: spawns the agent, parses each line once and sends it to every client. `relay` as anyone would write it, with
// `ws.send` per client and update; `batched` frames an update once and writes once per client and tick: the ceiling. No journal, no
// numbers, no checks. Prints its port; a line on stdin is a prompt.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const [agentPath, way] = process.argv.slice(2);
const agent = spawn(process.execPath, [agentPath], { stdio: ["pipe", "pipe", "inherit"] });
const http = createServer();
const server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false });
const clients = new Map();
http.on("upgrade", (request, socket, head) =>
  server.handleUpgrade(request, socket, head, (ws) => {
    clients.set(ws, socket);
    ws.on("error", () => undefined);
    ws.on("close", () => clients.delete(ws));
  }),
);
const say = (message) => agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

/** An unmasked text frame. */
function frame(line) {
  const payload = Buffer.from(line);
  if (payload.length < 126) return Buffer.concat([Buffer.from([0x81, payload.length]), payload]);
  const head = Buffer.alloc(payload.length < 65_536 ? 4 : 10);
  head[0] = 0x81;
  head[1] = payload.length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(payload.length, 2);
  else head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

let batch = [];
function flush() {
  const bytes = Buffer.concat(batch);
  batch = [];
  for (const [ws, socket] of clients) if (ws.readyState === ws.OPEN) socket.write(bytes);
}

function onUpdate(line) {
  if (way === "batched") {
    if (batch.length === 0) setImmediate(flush);
    batch.push(frame(line));
  } else for (const ws of clients.keys()) ws.send(line);
}

let rest = "";
agent.stdout.setEncoding("utf8");
agent.stdout.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.method === "session/update") onUpdate(line);
    else if (message.id === 2) process.stdout.write(`agent ${agent.pid}\n`);
  }
});
say({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
say({ id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } });
http.listen(0, "127.0.0.1", () => process.stdout.write(`port ${http.address().port}\n`));
let prompts = 10;
process.stdin.setEncoding("utf8");
process.stdin.on("data", (line) => {
  prompts += 1;
  const prompt = [{ type: "text", text: line.trim() }];
  say({ id: prompts, method: "session/prompt", params: { sessionId: "s1", prompt } });
});
process.stdin.on("end", () => {
  agent.kill();
  process.exit(0);
});
