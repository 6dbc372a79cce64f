/** Every command, with its line of help. Each is loaded only when it runs. */
import type { Command } from "./command.ts";

export interface Entry {
  readonly summary: string;
  load(): Promise<{ command: Command }>;
}

export const COMMANDS: ReadonlyMap<string, Entry> = new Map([
  ["bridge", { summary: "be an ACP agent on stdio: run an agent and share it", load: () => import("./bridge.ts") }],
  ["serve", { summary: "run the hub in the foreground", load: () => import("./serve.ts") }],
  ["status", { summary: "is the hub running, where, with whom", load: () => import("./status.ts") }],
  ["ls", { summary: "list running instances and their sessions", load: () => import("./ls.ts") }],
  ["watch", { summary: "follow a session in the terminal", load: () => import("./watch.ts") }],
  ["attach", { summary: "be an ACP agent on stdio that is a shared session", load: () => import("./attach.ts") }],
  ["sessions", { summary: "list and search sessions of now and before", load: () => import("./sessions.ts") }],
  ["send", { summary: "prompt a session", load: () => import("./send.ts") }],
  ["interactions", { summary: "list what agents wait for", load: () => import("./interactions.ts") }],
  ["approve", { summary: "allow what an agent asks", load: () => import("./approve.ts") }],
  ["deny", { summary: "refuse what an agent asks", load: () => import("./deny.ts") }],
  ["pair", { summary: "print a one-time way in for a phone or browser", load: () => import("./pair.ts") }],
  ["devices", { summary: "paired devices and tokens: list, rename, revoke", load: () => import("./devices.ts") }],
  ["token", { summary: "create, list and revoke credentials for scripts", load: () => import("./token.ts") }],
  ["audit", { summary: "who did what, from which device", load: () => import("./audit.ts") }],
  ["discover", { summary: "list hubs on the local network", load: () => import("./discover.ts") }],
  ["service", { summary: "install the hub as a service of this user", load: () => import("./service.ts") }],
  ["setup", { summary: "put the bridge into an editor's settings", load: () => import("./setup.ts") }],
  ["tunnel", { summary: "start a tunnel to this hub and pair through it", load: () => import("./tunnel.ts") }],
  ["doctor", { summary: "look for what is wrong and say what to do", load: () => import("./doctor.ts") }],
  ["logs", { summary: "what hub, bridges and service wrote down", load: () => import("./logs.ts") }],
  ["config", { summary: "the effective configuration and where it comes from", load: () => import("./config.ts") }],
  [
    "completions",
    {
      summary: "a completion script for your shell",
      // Handed the table: a module that imported it would be imported by it.
      load: async () => ({ command: (await import("./completions.ts")).completionsOf(COMMANDS) }),
    },
  ],
  ["stop", { summary: "stop the hub; agents and editors are not touched", load: () => import("./stop.ts") }],
]);
