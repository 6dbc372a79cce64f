// The two sides of each comparison: the bare relay, and acp-hub as built (agent → bridge → hub).
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CountingClient } from "./counting-client.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
export const AGENT = here("./burst-agent.mjs");
const RELAY = here("./relay.mjs");
export const MAIN = join(process.env.HUB_BUILD_DIR ?? here("../../../dist"), "cli/main.js");

export function lines(child, onLine) {
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk) => {
    const all = (rest + chunk).split("\n");
    rest = all.pop() ?? "";
    for (const line of all) onLine(line);
  });
}

const ended = (child) =>
  new Promise((resolve) =>
    child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve(),
  );

export async function startRelay(node = process.execPath) {
  const child = spawn(node, [RELAY, AGENT], { stdio: ["pipe", "pipe", "inherit"] });
  let port = 0;
  let agent = 0;
  await new Promise((resolve) => {
    lines(child, (line) => {
      const [word, value] = line.split(" ");
      if (word === "port") port = Number(value);
      if (word === "agent") agent = Number(value);
      if (port > 0 && agent > 0) resolve();
    });
  });
  return {
    name: "relay",
    pids: { server: child.pid, agent },
    client: () => CountingClient.open(port, "/"),
    prompt: (text) => child.stdin.write(`${text}\n`),
    async stop() {
      child.stdin.end();
      await ended(child);
    },
  };
}

export async function startHub(node = process.execPath, options = {}) {
  const home = mkdtempSync(join(tmpdir(), "acp-hub-bench-"));
  const env = { ...process.env, ACP_HUB_HOME: home, ACP_HUB_NO_AUTOSTART: "1" };
  const hub = spawn(node, [...(options.hubFlags ?? []), MAIN, "serve", "--port", "0"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise((resolve) => {
    lines(hub, (line) => {
      const match = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(line);
      if (match !== null) resolve(Number(match[1]));
    });
  });
  const token = await new Promise((resolve) => {
    const child = spawn(node, [MAIN, "token", "create", "--scope", "driver", "--name", "bench"], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    lines(child, (line) => resolve(line.trim()));
  });
  const bridge = spawn(node, [...(options.bridgeFlags ?? []), MAIN, "bridge", "--", process.execPath, AGENT], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const answers = new Map();
  lines(bridge, (line) => {
    if (!line.startsWith('{"jsonrpc":"2.0","id":')) return;
    const message = JSON.parse(line);
    answers.get(message.id)?.(message.result ?? message.error);
  });
  let nextId = 0;
  const call = (method, params) =>
    new Promise((resolve) => {
      nextId += 1;
      answers.set(nextId, resolve);
      bridge.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: nextId, method, params })}\n`);
    });
  await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await call("session/new", { cwd: "/", mcpServers: [] });
  const headers = { Authorization: `Bearer ${token}` };
  const instance = await instanceOf(port, token);
  const path = `/acp?instance=${instance}`;
  const children = readFileSync(`/proc/${bridge.pid}/task/${bridge.pid}/children`, "utf8")
    .trim()
    .split(" ")
    .map(Number);
  return {
    name: "hub",
    home,
    port,
    token,
    sessionId,
    pids: { server: hub.pid, bridge: bridge.pid, agent: children[0] },
    client: () => attachedClient(port, path, headers, sessionId),
    rawClient: () => CountingClient.open(port, path, headers),
    prompt: (text) => void call("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
    promptDone: (text) => call("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
    async stop() {
      bridge.stdin.end();
      await ended(bridge);
      hub.kill("SIGTERM");
      await ended(hub);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function instanceOf(port, token) {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/api/instances`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const list = await response.json();
    if (list.length > 0) return list[0].id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A client that has loaded the session: from then on it gets every update live. */
async function attachedClient(port, path, headers, sessionId) {
  const client = await CountingClient.open(port, path, headers);
  await new Promise((resolve) => {
    client.listen((text) => {
      if (text.includes('"id":2,"result"')) resolve();
    });
    client.send(
      JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: 1, clientCapabilities: {} },
      }),
    );
    const meta = { "acp-hub": { history: "none" } };
    client.send(
      JSON.stringify({
        jsonrpc: "2.0",
        id: 2,
        method: "session/load",
        params: { sessionId, cwd: "/", mcpServers: [], _meta: meta },
      }),
    );
  });
  client.listen(undefined);
  return client;
}
