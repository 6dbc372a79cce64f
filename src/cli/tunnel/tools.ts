/** The tunnel tools we start: how, and how their public address looks in what they print. */

export interface TunnelTarget {
  readonly port: number;
  readonly isTls: boolean;
}

export interface TunnelTool {
  readonly command: string;
  readonly args: readonly string[];
  /** The public address, once it is in the text printed so far; without path. */
  findUrl(output: string): string | undefined;
  /** Who can reach it, for a person. */
  readonly reach: string;
  /** Where to get it. */
  readonly install: string;
}

/** Not the pages of its maker that a banner links to. */
const QUICK_TUNNEL = /https:\/\/(?!api\.)[a-z0-9-]+\.trycloudflare\.com/;
const TAILNET = /https:\/\/[a-z0-9-]+\.[a-z0-9-]+\.ts\.net(?::\d+)?/;

const local = ({ port, isTls }: TunnelTarget): string => `${isTls ? "https" : "http"}://127.0.0.1:${port}`;

function cloudflared(target: TunnelTarget): TunnelTool {
  return {
    command: "cloudflared",
    // Our own certificate is self-signed, and the way to it is the loopback.
    args: ["tunnel", "--no-autoupdate", "--url", local(target), ...(target.isTls ? ["--no-tls-verify"] : [])],
    findUrl: (output) => QUICK_TUNNEL.exec(output)?.[0],
    reach: "Anyone on the internet who has the address reaches the login; only paired devices get further.",
    install: "https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/",
  };
}

function tailscale(target: TunnelTarget, isPublic: boolean): TunnelTool {
  return {
    command: "tailscale",
    args: [
      isPublic ? "funnel" : "serve",
      target.isTls ? local(target).replace("https:", "https+insecure:") : local(target),
    ],
    findUrl: (output) => TAILNET.exec(output)?.[0],
    reach: isPublic
      ? "Anyone on the internet who has the address reaches the login; only paired devices get further."
      : "Devices of your tailnet reach it.",
    install: "https://tailscale.com/download",
  };
}

export const TUNNELS = ["cloudflared", "tailscale"] as const;
export type TunnelName = (typeof TUNNELS)[number];

/** `isPublic`: tailscale's funnel instead of serve. */
export function tunnelTool(name: TunnelName, target: TunnelTarget, isPublic: boolean): TunnelTool {
  return name === "cloudflared" ? cloudflared(target) : tailscale(target, isPublic);
}
