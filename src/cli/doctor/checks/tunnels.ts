/** Which tunnel tools are here: for `acp-hub tunnel` and for the recipes of docs/tunnels.md. */

import type { DoctorContext } from "../context.ts";
import { findCommand } from "../find-command.ts";
import { type Check, ok } from "../finding.ts";

const TOOLS = ["cloudflared", "tailscale", "frpc", "ssh", "caddy", "nginx", "haproxy"];

export const tunnels: Check<DoctorContext> = {
  id: "tunnels",
  async run({ env }) {
    const path = env["PATH"] ?? "";
    const found = await Promise.all(
      TOOLS.map(async (tool) => ((await findCommand(tool, path)) === undefined ? [] : [tool])),
    );
    const names = found.flat();
    return [
      ok(
        names.length > 0
          ? `installed here: ${names.join(", ")}`
          : "no tunnel tool is installed; none is needed on a LAN",
      ),
    ];
  },
};
