import { describe, expect, it } from "vitest";
import { type HubAdvert, SERVICE_TYPE } from "../../../src/discovery/advert.ts";
import { Advertiser } from "../../../src/discovery/advertiser.ts";
import { MemoryLink, MemoryNetwork } from "../../../src/discovery/memory-network.ts";
import type { DnsRecord } from "../../../src/discovery/ports.ts";
import type { DiscoveryState } from "../../../src/discovery/state.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const advertOf = (id: string): HubAdvert => ({
  id,
  name: "desk",
  version: "0.1.0",
  port: 8377,
  isTls: false,
  path: "",
  fingerprint: "fp",
});

const lan = (address: string, link: MemoryLink, name = "eth0") => ({
  on: { name, address, addresses: [address] },
  link,
});

function machine(id: string, clock: ManualClock, ...list: MemoryNetwork["list"]) {
  const network = new MemoryNetwork();
  network.list = list;
  const states: DiscoveryState[] = [];
  const advertiser = new Advertiser({
    advert: advertOf(id),
    network,
    clock,
    listensOn: (address) => !address.startsWith("10."),
    onState: (state) => states.push(state),
  });
  return { advertiser, network, states };
}

const namesOf = (records: readonly DnsRecord[]): string[] =>
  records.filter((record) => record.type === "SRV").map((record) => record.name.replace(`.${SERVICE_TYPE}`, ""));
const addressesOf = (records: readonly DnsRecord[]): string[] =>
  records.flatMap((record) => (record.type === "A" && record.ttl > 0 ? [record.data] : []));

describe("advertising", () => {
  it("C5.discovery a hub asks for its name three times, then announces twice", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const { advertiser } = machine("a", clock, lan("192.0.2.1", link));
    advertiser.start();
    expect(advertiser.state).toEqual({ kind: "probing", name: "desk" });
    await clock.advance(749);
    expect(namesOf(link.heard)).toEqual([]);
    await clock.advance(1);
    expect(advertiser.state).toEqual({ kind: "advertised", name: "desk", addresses: ["192.0.2.1"], failures: [] });
    await clock.advance(1000);
    expect(namesOf(link.heard)).toEqual(["desk", "desk"]);
    await advertiser.stop();
  });

  it("C5.discovery each link hears of the addresses on it, of those the hub listens on", async () => {
    const [clock, wired, radio] = [new ManualClock(), new MemoryLink(), new MemoryLink()];
    const { advertiser } = machine("a", clock, lan("192.0.2.1", wired), lan("198.51.100.1", radio, "wlan0"), {
      on: { name: "vpn0", address: "10.0.0.1", addresses: ["10.0.0.1"] },
      link: wired,
    });
    advertiser.start();
    await clock.advance(750);
    expect(addressesOf(wired.heard)).toEqual(["192.0.2.1"]);
    expect(addressesOf(radio.heard)).toEqual(["198.51.100.1"]);
    await advertiser.stop();
  });

  it("C5.discovery a name another hub has gets a number", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const first = machine("a", clock, lan("192.0.2.1", link));
    const second = machine("b", clock, lan("192.0.2.2", link));
    first.advertiser.start();
    await clock.advance(5000);
    second.advertiser.start();
    await clock.advance(5000);
    expect(first.advertiser.state).toMatchObject({ name: "desk" });
    expect(second.advertiser.state).toMatchObject({ kind: "advertised", name: "desk (2)", renamedFrom: "desk" });
    await Promise.all([first.advertiser.stop(), second.advertiser.stop()]);
  });

  it("C5.discovery two hubs that start at once end with two names", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const machines = ["a", "b", "c"].map((id, index) => machine(id, clock, lan(`192.0.2.${index + 1}`, link)));
    for (const { advertiser } of machines) advertiser.start();
    await clock.advance(10_000);
    const names = machines.map(({ advertiser: { state } }) => (state.kind === "advertised" ? state.name : state.kind));
    expect([...names].sort()).toEqual(["desk", "desk (2)", "desk (3)"]);
    await Promise.all(machines.map(({ advertiser }) => advertiser.stop()));
  });

  it("C5.discovery a stranger that never gives the name up gets it", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const { advertiser } = machine("zz", clock, lan("192.0.2.1", link));
    advertiser.start();
    await clock.advance(2000);
    const claim: DnsRecord = {
      type: "SRV",
      name: `desk.${SERVICE_TYPE}`,
      ttl: 120,
      data: { port: 1, target: "a.local" },
    };
    for (let attempt = 0; attempt < 3; attempt += 1) {
      link.send([claim]);
      await clock.advance(2000);
      expect(advertiser.state).toMatchObject({ name: "desk" });
    }
    link.send([claim]);
    await clock.advance(2000);
    expect(advertiser.state).toMatchObject({ kind: "advertised", name: "desk (2)" });
    await advertiser.stop();
  });

  it("C5.discovery a new address is announced and an old one is gone", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const { advertiser, network } = machine("a", clock, lan("192.0.2.1", link));
    advertiser.start();
    await clock.advance(2000);
    link.heard.length = 0;
    network.list = [lan("192.0.2.9", link)];
    await clock.advance(5000);
    expect(new Set(addressesOf(link.heard))).toEqual(new Set(["192.0.2.9"]));
    expect(advertiser.state).toMatchObject({ addresses: ["192.0.2.9"] });
    expect(link.socketCount).toBe(1);
    await advertiser.stop();
  });

  it("C5.discovery without a network it waits, and advertises when one comes", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const { advertiser, network } = machine("a", clock);
    advertiser.start();
    await clock.advance(2000);
    expect(advertiser.state).toEqual({ kind: "no-network" });
    network.list = [lan("192.0.2.1", link)];
    await clock.advance(5000);
    expect(advertiser.state).toMatchObject({ kind: "advertised", addresses: ["192.0.2.1"] });
    await advertiser.stop();
  });

  it("C5.discovery a failed socket is state with the system's code, and is tried again", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const error = Object.assign(new Error("bind"), { code: "EADDRINUSE" });
    const { advertiser, network, states } = machine("a", clock, { ...lan("192.0.2.1", link), error });
    advertiser.start();
    await clock.advance(1000);
    const failures = [{ interface: "eth0", address: "192.0.2.1", code: "EADDRINUSE" }];
    expect(advertiser.state).toEqual({ kind: "failed", failures });
    network.list = [lan("192.0.2.1", link)];
    await clock.advance(5000);
    expect(states.map((state) => state.kind)).toEqual(["failed", "advertised"]);
    await advertiser.stop();
  });

  it("C5.discovery stopping says goodbye and leaves no socket and no timer", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const { advertiser, states } = machine("a", clock, lan("192.0.2.1", link));
    advertiser.start();
    await clock.advance(2000);
    link.heard.length = 0;
    await advertiser.stop();
    await advertiser.stop();
    expect(link.heard.map((record) => [record.type, record.ttl])).toEqual([
      ["PTR", 0],
      ["SRV", 0],
      ["TXT", 0],
      ["A", 0],
    ]);
    expect([link.socketCount, clock.pendingCount]).toEqual([0, 0]);
    expect(states.at(-1)).toEqual({ kind: "off", reason: "stopped" });
  });
});
