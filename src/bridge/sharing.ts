/** Puts a running bridge on the hub: the hello it says and the dialler that says it. Loaded after the agent was spawned. */
import { LINK_PROTOCOL, type LinkHello } from "../protocol/link.ts";
import type { BridgeOptions } from "./bridge.ts";
import { hubLauncher, type LaunchCommand } from "./hub-launcher.ts";
import { HubUpgrade } from "./hub-upgrade.ts";
import { LinkDialer } from "./link-dialer.ts";
import { silentLog } from "./log.ts";
import type { BridgePaths } from "./paths.ts";
import type { RootRunner } from "./root-runner.ts";

export interface SharingOptions {
  readonly instanceId: string;
  /** What people call this instance. */
  readonly name: string;
  /** How to start a hub; undefined: never. */
  readonly launch: LaunchCommand | undefined;
  /** `ZCODE_ACP_REMOTE_TOKEN`, where the profile has one. */
  readonly remoteToken?: string | undefined;
}

/** Begins to dial. The returned function stops it. */
export function startSharing(
  sharing: SharingOptions & { readonly paths: BridgePaths },
  runner: RootRunner,
  options: BridgeOptions,
): () => void {
  const log = options.log ?? silentLog;
  const startedAt = Math.round(Date.now() - process.uptime() * 1000);
  const hello = (): LinkHello => ({
    protocol: LINK_PROTOCOL,
    features: [],
    bridgeVersion: options.version,
    instanceId: sharing.instanceId,
    pid: process.pid,
    startedAt,
    workspace: options.workspace,
    name: sharing.name,
    origin: options.isHeadless ? "headless" : "editor",
    agent: options.backend.name,
    sessions: runner.root.liveEpochs(),
    ...(sharing.remoteToken !== undefined && { remoteToken: sharing.remoteToken }),
  });
  const launcher =
    sharing.launch === undefined
      ? undefined
      : hubLauncher(sharing.launch, (error) => log.warn("hub could not be started", { error: error.message }));
  const upgrade = launcher === undefined ? undefined : new HubUpgrade(launcher, log);
  const dialer = new LinkDialer({
    paths: sharing.paths,
    hello,
    launcher,
    log,
    handlers: {
      onUp: (sink, acked, drop, hub) => {
        runner.onLinkUp(sink, acked, drop, hub);
        launcher?.onUp();
        upgrade?.onUp(hub);
      },
      onFrame: (frame) => runner.onLink(frame),
      onDown: () => {
        upgrade?.stop();
        runner.onLinkDown();
      },
      onDrain: () => runner.onLinkDrain(),
    },
  });
  dialer.start();
  return () => {
    upgrade?.stop();
    dialer.stop();
  };
}
