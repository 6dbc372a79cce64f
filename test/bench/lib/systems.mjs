// The sides of each comparison: the bare relay, the relay that batches (the ceiling), and acp-hub as built (agent → bridge → hub).
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attached, known } from "./acp-client.mjs";
import { CountingClient } from "./counting-client.mjs";
import { Editor } from "./editor.mjs";
import { AGENT, childrenOf, ended, lines, MAIN, makeHome, RELAY, removeHome, said, start } from "./processes.mjs";

export async function startRelay({ node = process.execPath, way = "relay" } = {}) {
  const child = start(node, [RELAY, AGENT, way]);
  const found = {};
  lines(child, (line) => {
    const [word, value] = line.split(" ");
    found[word] = Number(value);
  });
  await said(child, () => (found.port > 0 && found.agent > 0 ? true : undefined), way);
  return {
    name: way,
    pids: { server: child.pid, agent: found.agent },
    client: () => CountingClient.open(found.port, "/"),
    prompt: (text) => child.stdin.write(`${text}\n`),
    async stop() {
      child.stdin.end();
      await ended(child);
    },
  };
}

/** The limits are those of one device and of a normal day; a benchmark plays many. */
const CONFIG = { limits: { connectionsPerDevice: 100_000, connectionsMax: 100_000 }, log: { level: "error" } };

/** Runs `serve`; resolves to the process and its port. */
export async function startHubProcess({ node, home, port = 0, flags = [] }) {
  const env = { ...process.env, ACP_HUB_HOME: home, ACP_HUB_NO_AUTOSTART: "1" };
  const child = start(node, [...flags, MAIN, "serve", "--port", String(port)], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await said(child, (line) => /listening on https?:\/\/[^:]+:(\d+)/.exec(line)?.[1], "the hub");
  return { child, port: Number(url), env };
}

/** A bridge with an editor and its agent, and one session in it. */
export async function startBridge({ node, env, flags = [] }) {
  const child = start(node, [...flags, MAIN, "bridge", "--", process.execPath, AGENT], { env });
  const editor = new Editor(child);
  const sessionId = await editor.open();
  return {
    pid: child.pid,
    agent: childrenOf(child.pid)[0],
    editor,
    sessionId,
    async stop() {
      child.stdin.end();
      await ended(child);
    },
  };
}

/** `bridges` bridges on one hub. The first one's session is the one most scenarios look at. */
export async function startHub(options = {}) {
  const { node = process.execPath, bridges: count = 1, config = {} } = options;
  const home = makeHome();
  writeFileSync(join(home, "config.json"), JSON.stringify({ ...CONFIG, ...config }));
  let hub = await startHubProcess({ node, home, flags: options.hubFlags });
  const { env, port } = hub;
  const token = await tokenOf(node, env);
  const headers = { Authorization: `Bearer ${token}` };
  const bridges = [];
  for (let index = 0; index < count; index += 1)
    bridges.push(await startBridge({ node, env, flags: options.bridgeFlags }));
  const [first] = bridges;
  const instances = await instancesOf(port, token, count);
  const byPid = new Map(instances.map((each) => [each.pid, each.id]));
  const addressOf = (bridge) => ({ port, headers, path: `/acp?instance=${byPid.get(bridge.pid)}` });
  const address = addressOf(first);
  for (const bridge of bridges) await known(addressOf(bridge), bridge.sessionId);
  return {
    name: "hub",
    home,
    port,
    token,
    bridges,
    editor: first.editor,
    sessionId: first.sessionId,
    address,
    addressOf,
    pids: { server: hub.child.pid, bridge: first.pid, agent: first.agent },
    client: (more = {}) => attached({ ...address, headers: { ...headers, ...more } }, first.sessionId),
    prompt: (text) => void first.editor.prompt(first.sessionId, text),
    promptDone: (text) => first.editor.prompt(first.sessionId, text),
    /** Kills it as a crash would, and starts another in the same place. */
    async restartHub() {
      hub.child.kill("SIGKILL");
      await ended(hub.child);
      hub = await startHubProcess({ node, home, port, flags: options.hubFlags });
      this.pids.server = hub.child.pid;
    },
    async stop() {
      for (const bridge of bridges) await bridge.stop();
      hub.child.kill("SIGTERM");
      await ended(hub.child);
      removeHome(home);
    },
  };
}

function tokenOf(node, env) {
  const args = [MAIN, "token", "create", "--scope", "driver", "--name", "bench"];
  return said(start(node, args, { env }), (line) => line.trim(), "token create");
}

/** Once all of them are there. */
async function instancesOf(port, token, count) {
  for (;;) {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`http://127.0.0.1:${port}/api/instances`, { headers });
    const list = await response.json();
    if (list.length >= count) return list;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
