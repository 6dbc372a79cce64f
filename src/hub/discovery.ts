/** Where the hub meets the network's discovery: whether it is advertised at all (contract §5), and how others are found. */

import { isIPv4 } from "node:net";
import { hostname } from "node:os";
import type { HubAdvert } from "../discovery/advert.ts";
import { Advertiser } from "../discovery/advertiser.ts";
import { bonjourNetwork } from "../discovery/bonjour-network.ts";
import { type BrowseResult, browseHubs } from "../discovery/browse.ts";
import { type Clock, type MdnsNetwork, systemClock } from "../discovery/ports.ts";
import type { DiscoveryState } from "../discovery/state.ts";
import { isLoopback } from "./edge.ts";
import type { HubLog } from "./log.ts";

export type { FoundHub } from "../discovery/advert.ts";
export type { BrowseResult } from "../discovery/browse.ts";
export type { DiscoveryState } from "../discovery/state.ts";

export interface HubDiscoveryOptions {
  /** Where the hub is bound: an address, `0.0.0.0` or `::`. */
  readonly host: string;
  /** `discovery` of the configuration. */
  readonly isEnabled: boolean;
  /** Without `name`: the machine's. */
  readonly advert: Omit<HubAdvert, "name"> & { readonly name?: string };
  readonly log: HubLog;
  readonly network?: MdnsNetwork;
  readonly clock?: Clock;
}

export interface HubDiscovery {
  readonly state: DiscoveryState;
  /** Says goodbye, within `limitMs`. */
  stop(limitMs?: number): Promise<void>;
}

const GOODBYE_MS = 500;

/** Bound to loopback, or turned off: nothing is sent and no socket is opened. */
export function startDiscovery(options: HubDiscoveryOptions): HubDiscovery {
  const { host, isEnabled, advert, log, network = bonjourNetwork, clock = systemClock } = options;
  const reason = isLoopback(host) ? "loopback" : isEnabled ? undefined : "disabled";
  if (reason !== undefined) return { state: { kind: "off", reason }, stop: () => Promise.resolve() };
  const advertiser = new Advertiser({
    advert: { ...advert, name: advert.name ?? hostname() },
    network,
    clock,
    listensOn: (address) => listensOn(host, address),
    onState: (state) => logState(log, state),
  });
  advertiser.start();
  return {
    get state() {
      return advertiser.state;
    },
    stop: (limitMs = GOODBYE_MS) => within(clock, limitMs, advertiser.stop()),
  };
}

function listensOn(host: string, address: string): boolean {
  if (host === "::") return true;
  return host === "0.0.0.0" ? isIPv4(address) : host === address;
}

function logState(log: HubLog, state: DiscoveryState): void {
  if (state.kind === "failed") log.warn({ failures: state.failures }, "discovery failed");
  else log.info({ state: state.kind, ...("name" in state && { name: state.name }) }, "discovery");
}

/** A send that never reports back must not hold up the hub's end. */
function within(clock: Clock, limitMs: number, done: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, resolve);
    done.then(resolve, reject).finally(cancel);
  });
}

/** Hubs on the network, this machine's own included. */
export function findHubs(durationMs: number, signal?: AbortSignal): Promise<BrowseResult> {
  return browseHubs({
    network: bonjourNetwork,
    clock: systemClock,
    durationMs,
    ...(signal !== undefined && { signal }),
  });
}
