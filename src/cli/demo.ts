/** The demo session of `serve --demo`: a headless bridge of this very installation, ended with the hub. */
import { spawn } from "node:child_process";
import type { Hub } from "../hub/hub.ts";
import { owner } from "../hub/principal.ts";
import { ACP } from "../protocol/acp.ts";

/** Starts it; the returned function ends it. */
export function demoProcess(home: string | undefined): () => void {
  const script = process.argv[1] ?? "";
  const args = ["bridge", "--headless", "--name", "demo", ...(home === undefined ? [] : ["--home", home]), "demo"];
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ACP_HUB_NO_AUTOSTART: "1" },
  });
  child.on("error", (error) =>
    process.stderr.write(`acp-hub: the demo session could not be started: ${error.message}\n`),
  );
  return () => child.kill("SIGTERM");
}

/** Opens a session on the demo instance as soon as it is there, so that there is something to see. */
export function openDemoSession(hub: Hub): () => void {
  const open = (): boolean => {
    const instance = hub.registry.list().find((each) => each.hello.name === "demo" && each.hello.origin === "headless");
    if (instance?.mirror.agentInfo === undefined) return false;
    const by = { connectionId: "serve", device: owner.deviceId, name: owner.name, isOwner: true };
    instance.mirror.request(ACP.sessionNew, { cwd: process.cwd(), mcpServers: [] }, by, () => undefined);
    return true;
  };
  const timer = setInterval(() => {
    if (open()) clearInterval(timer);
  }, 100);
  return () => clearInterval(timer);
}
