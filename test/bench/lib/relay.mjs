// The baseline: spawns the agent, parses each line once, sends it to every client with `ws`. No journal, no numbers, no checks.
// Prints its port; a line on stdin is a prompt.
import { spawn } from "node:child_process";
import { WebSocketServer } from "ws";

const [agentPath] = process.argv.slice(2);
const agent = spawn(process.execPath, [agentPath], { stdio: ["pipe", "pipe", "inherit"] });
const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
const say = (message) => agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

let rest = "";
agent.stdout.setEncoding("utf8");
agent.stdout.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.method === "session/update") for (const client of server.clients) client.send(line);
    else if (message.id === 2) process.stdout.write(`agent ${agent.pid}\n`);
  }
});
say({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
say({ id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } });
server.on("listening", () => process.stdout.write(`port ${server.address().port}\n`));
let prompts = 10;
process.stdin.setEncoding("utf8");
process.stdin.on("data", (line) => {
  prompts += 1;
  say({
    id: prompts,
    method: "session/prompt",
    params: { sessionId: "s1", prompt: [{ type: "text", text: line.trim() }] },
  });
});
process.stdin.on("end", () => {
  agent.kill();
  process.exit(0);
});
