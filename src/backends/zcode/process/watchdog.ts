/**
 * Ends the app-server's group when the bridge vanishes without a chance to do it (SIGKILL, out of memory). A shell, not a
 * Node: it must cost next to nothing, because one runs beside every bridge.
 */
import { spawn } from "node:child_process";

// `-s NAME --` is the one form in which every shell takes a group.
const SCRIPT = [
  "while kill -s 0 -- $1 2>/dev/null; do",
  "  sleep 2",
  "  kill -s 0 -- -$2 2>/dev/null || exit 0",
  "done",
  "kill -s KILL -- -$2 2>/dev/null",
].join("\n");

/** Watches `groupId` on behalf of this process. The returned function ends the watch. */
export function startWatchdog(groupId: number, bridgePid: number = process.pid): () => void {
  if (process.platform === "win32") return () => {};
  const dog = spawn("/bin/sh", ["-c", SCRIPT, "acp-hub-watchdog", String(bridgePid), String(groupId)], {
    detached: true,
    stdio: "ignore",
  });
  dog.on("error", () => {});
  dog.unref();
  return () => {
    if (dog.pid === undefined || dog.exitCode !== null) return;
    try {
      process.kill(-dog.pid, "SIGKILL");
    } catch {
      // It saw the group end and left by itself.
    }
  };
}
