/** `acp-hub stop`: ends the hub. Editors and agents go on; bridges dial the next hub. */
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT, UnreachableError } from "./exit.ts";
import { homePaths } from "./home.ts";
import { callHub, readHubInfo } from "./local-api.ts";

const USAGE = "acp-hub stop [--home DIR]";
const LIMIT_MS = 10_000;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values } = readArgs(argv, { home: { type: "string" } } as const, USAGE, 0);
    const paths = homePaths(values.home);
    const info = await readHubInfo(paths);
    // The socket answering proves that the pid is the hub's: pids are reused.
    await callHub(paths, "GET", "/healthz");
    if (info === undefined) throw new UnreachableError("No hub is running");
    process.kill(info.pid, "SIGTERM");
    const deadline = Date.now() + LIMIT_MS;
    while (isAlive(info.pid)) {
      if (Date.now() > deadline) throw new Error(`The hub (pid ${info.pid}) did not end within ${LIMIT_MS / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    process.stderr.write("The hub has stopped.\n");
    return EXIT.ok;
  },
};

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
