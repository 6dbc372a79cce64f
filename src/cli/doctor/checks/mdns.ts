/** How the hub's announcement on the local network stands. */

import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok, warn } from "../finding.ts";

const FAILED: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "another program keeps the mDNS port 5353 to itself: end it, or let it share (avahi: disallow-other-stacks=no)",
  EACCES: "the system does not let the hub use the mDNS port 5353",
  ENETUNREACH: "the interface carries no multicast",
};

export const mdns: Check<DoctorContext> = {
  id: "mdns",
  run: ({ discovery }) => {
    if (discovery === undefined) return Promise.resolve([ok("no hub runs that could be announced")]);
    switch (discovery.kind) {
      case "off":
        return Promise.resolve([ok(`the hub is not announced (${WHY_OFF[discovery.reason]})`)]);
      case "probing":
        return Promise.resolve([ok(`the hub is about to be announced as "${discovery.name}"`)]);
      case "no-network":
        return Promise.resolve([
          warn("there is no network to announce the hub on", "connect to one; the hub goes on looking"),
        ]);
      case "failed":
        return Promise.resolve(discovery.failures.map((failure) => failed(failure.interface, failure.code)));
      case "advertised": {
        const { name, renamedFrom, addresses, failures } = discovery;
        const renamed = renamedFrom === undefined ? "" : `, because another hub has "${renamedFrom}"`;
        const head = ok(`the hub is announced as "${name}" on ${addresses.join(", ")}${renamed}`);
        const partly = failures.map((failure) =>
          warn(`not announced on ${failure.interface} (${failure.code})`, FAILED[failure.code] ?? "see the hub's log"),
        );
        return Promise.resolve([head, ...partly]);
      }
    }
  },
};

const WHY_OFF = {
  loopback: "it listens on this computer alone",
  disabled: "discovery.enabled is off",
  stopped: "it is stopping",
} as const;

const failed = (name: string, code: string) =>
  fail(
    `the hub cannot be announced on ${name} (${code})`,
    FAILED[code] ?? "see the hub's log; discovery.enabled turns it off",
  );
