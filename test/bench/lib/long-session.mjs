// The built hub with an editor whose agent makes long sessions, and a way to pair a phone.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ended, lines, MAIN, said, start } from "./processes.mjs";

const LONG_AGENT = fileURLToPath(new URL("./long-agent.mjs", import.meta.url));

export async function startLongSession(node) {
  const home = mkdtempSync(join(tmpdir(), "acp-hub-bench-"));
  const env = { ...process.env, ACP_HUB_HOME: home, ACP_HUB_NO_AUTOSTART: "1" };
  const hub = start(node, [MAIN, "serve", "--port", "0"], { env });
  await said(hub, (line) => line.includes("listening on") || undefined, "the hub");
  const bridge = start(node, [MAIN, "bridge", "--", node, LONG_AGENT], { env });
  const answers = new Map();
  lines(bridge, (line) => {
    if (!line.includes('"result"')) return;
    const { id, result } = JSON.parse(line);
    answers.get(id)?.(result);
  });
  let nextId = 0;
  const call = (method, params) =>
    new Promise((resolve) => {
      nextId += 1;
      answers.set(nextId, resolve);
      bridge.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: nextId, method, params })}\n`);
    });
  await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await call("session/new", { cwd: home, mcpServers: [] });
  return {
    sessionId,
    /** Resolves when the turn has ended. */
    prompt: (text) => call("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
    async pairingLink() {
      const child = start(node, [MAIN, "pair", "--scope", "owner", "--json"], { env });
      let text = "";
      lines(child, (line) => {
        text += line;
      });
      await new Promise((resolve) => child.once("close", resolve));
      return JSON.parse(text).url;
    },
    async stop() {
      bridge.stdin.end();
      await ended(bridge);
      hub.kill("SIGTERM");
      await ended(hub);
      rmSync(home, { recursive: true, force: true });
    },
  };
}
