/** Sockets in the file system that nobody listens on: they are left by a hub that was killed. */
import { lstat } from "node:fs/promises";
import { connect } from "node:net";
import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok, warn } from "../finding.ts";

const LIMIT_MS = 1000;

export const sockets: Check<DoctorContext> = {
  id: "sockets",
  async run({ paths, hub }) {
    const both = [paths.linkSocket, paths.apiSocket];
    const states = await Promise.all(both.map(async (path) => ({ path, state: await stateOf(path) })));
    const found = states.flatMap(({ path, state }) => {
      if (state === "dead")
        return [warn(`${path} is left from a hub that died`, "the next hub replaces it; nothing is to be done")];
      if (state === "not-a-socket") return [fail(`${path} is not a socket`, `rm ${path}`)];
      if (state === "absent" && hub !== undefined)
        return [fail(`${path} is gone although the hub runs`, "restart the hub: acp-hub stop, then acp-hub serve")];
      return [];
    });
    return found.length > 0 ? found : [ok("the local sockets are in order")];
  },
};

async function stateOf(path: string): Promise<"absent" | "not-a-socket" | "alive" | "dead"> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return "absent";
  if (!info.isSocket()) return "not-a-socket";
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error("no answer")));
    socket.once("connect", () => {
      socket.destroy();
      resolve("alive");
    });
    socket.once("error", () => resolve("dead"));
  });
}
