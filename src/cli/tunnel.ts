/** `acp-hub tunnel`: starts an installed tunnel tool in front of the running hub and shows the way in. */
import { once } from "node:events";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT, UnreachableError, UsageError } from "./exit.ts";
import { homePaths } from "./home.ts";
import { readScope } from "./hub-args.ts";
import { callHubOk, readHubInfo } from "./local-api.ts";
import { runTunnel } from "./tunnel/run-tunnel.ts";
import { TUNNELS, type TunnelName, tunnelTool } from "./tunnel/tools.ts";

const USAGE = "acp-hub tunnel cloudflared|tailscale [--public] [--scope P] [--no-pair] [--home DIR]";
const OPTIONS = {
  public: { type: "boolean" },
  scope: { type: "string" },
  "no-pair": { type: "boolean" },
  home: { type: "string" },
} as const;

const RENEW_MS = 30_000;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(argv, OPTIONS, USAGE, 1);
    const name = readName(positionals);
    const scope = readScope(values.scope);
    if (values.public === true && name === "cloudflared")
      throw new UsageError("--public is tailscale's funnel; cloudflared is public anyway");
    const paths = homePaths(values.home);
    await callHubOk(paths, "GET", "/readyz");
    const info = await readHubInfo(paths);
    if (info === undefined) throw new UnreachableError("No hub is running: start one with acp-hub serve");
    const tool = tunnelTool(name, { port: info.port, isTls: info.tls }, values.public === true);
    const renew = (url: string): Promise<unknown> => callHubOk(paths, "POST", "/api/tunnels", { url });
    let open: string | undefined;
    const onUrl = async (origin: string): Promise<void> => {
      open = origin;
      const url = `${origin}${info.basePath}`;
      await renew(origin);
      process.stdout.write(`${url}\n`);
      process.stderr.write(`${tool.reach}\n`);
      if (values["no-pair"] !== true) await showPairing(url, scope, values.home);
      process.stderr.write("Ctrl+C ends the tunnel.\n");
    };
    const controller = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) void once(process, signal).then(() => controller.abort());
    try {
      await runTunnel(tool, {
        env: process.env,
        onLine: (line) => (open === undefined ? process.stderr.write(`  ${line}\n`) : undefined),
        onUrl,
        renew: async (url) => void (await renew(url)),
        renewMs: RENEW_MS,
        signal: controller.signal,
      });
      return EXIT.ok;
    } finally {
      if (open !== undefined) await callHubOk(paths, "DELETE", "/api/tunnels", { url: open }).catch(() => undefined);
    }
  },
};

function readName([name]: readonly string[]): TunnelName {
  const known = TUNNELS.find((each) => each === name);
  if (known !== undefined) return known;
  throw new UsageError(`Name the tool: ${TUNNELS.join(" or ")}\nUsage: ${USAGE}`);
}

async function showPairing(url: string, scope: string | undefined, home: string | undefined): Promise<void> {
  const { command: pair } = await import("./pair.ts");
  const args = ["--url", url, ...(scope === undefined ? [] : ["--scope", scope])];
  await pair.run(home === undefined ? args : [...args, "--home", home]);
}
