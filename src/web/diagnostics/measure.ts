/** Measures from this device how well it reaches the hub. */
import { CallError, type HubApi, type HubClient } from "../../client/index.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import type { Check } from "../notifications/push.ts";

const ROUNDS = 5;

export interface Measured {
  readonly checks: readonly Check[];
  readonly facts: readonly (readonly [string, string])[];
}

export async function measure(api: HubApi, client: HubClient): Promise<Measured> {
  const http = await httpTimes(api);
  const frames = await frameTimes(client);
  const skewMs = http.hubTime === undefined ? undefined : Math.abs(http.hubTime - Date.now());
  const latency = median(http.times);
  // A browser trusts its own computer without encryption.
  const isLocal = window.isSecureContext && location.protocol === "http:";
  const checks: Check[] = [
    result("Hub reachable", http.times.length > 0, "No answer from the hub. Check the network, the VPN or the tunnel."),
    result(
      isLocal ? "Stays on this computer (localhost)" : "Encrypted (TLS)",
      window.isSecureContext,
      "Plain HTTP: no push, no clipboard, and others in the network can read along.",
    ),
    result(
      "Answers quickly",
      latency !== undefined && latency < 800,
      "Slow answers: a weak network, or a proxy far away.",
    ),
    result("Live connection", frames !== undefined, "The WebSocket does not open. A proxy may block the upgrade."),
    result(
      "Frames are not held back",
      frames !== undefined && (median(frames) ?? 0) < 1000,
      "A proxy buffers the stream. Turn buffering off for this address.",
    ),
    result(
      "Clocks agree",
      skewMs === undefined || skewMs < 60_000,
      "The clocks differ by more than a minute. What is said to be so old is set right; set this device's clock.",
    ),
  ];
  const facts: (readonly [string, string])[] = [
    ["Address", location.origin + location.pathname],
    ["HTTP, median", ms(latency)],
    ["WebSocket, median", ms(frames === undefined ? undefined : median(frames))],
    ["WebSocket, slowest", ms(frames === undefined ? undefined : Math.max(...frames))],
    ["Clock difference", skewMs === undefined ? "unknown" : `${Math.round(skewMs / 1000)} s`],
    ["Browser", navigator.userAgent],
    ["Screen", `${window.innerWidth}×${window.innerHeight} @${window.devicePixelRatio}`],
  ];
  return { checks, facts };
}

async function httpTimes(
  api: HubApi,
): Promise<{ readonly times: readonly number[]; readonly hubTime: number | undefined }> {
  const times: number[] = [];
  let hubTime: number | undefined;
  for (let round = 0; round < ROUNDS; round += 1) {
    try {
      const health = await api.health(() => performance.now());
      times.push(health.tookMs);
      hubTime = health.hubTime;
    } catch {
      break;
    }
  }
  return { times, hubTime };
}

/** Round trips on the live socket; undefined when it does not come up. */
async function frameTimes(client: HubClient): Promise<readonly number[] | undefined> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    try {
      await client.connection.call(HUB.queueList, {}, { timeoutMs: 5000 });
    } catch (error) {
      if (!(error instanceof CallError)) return undefined;
    }
    times.push(performance.now() - startedAt);
  }
  return times;
}

function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

const ms = (value: number | undefined): string => (value === undefined ? "no answer" : `${Math.round(value)} ms`);

const result = (name: string, isOk: boolean, help: string): Check => ({
  name,
  state: isOk ? "ok" : "bad",
  help: isOk ? undefined : help,
});
