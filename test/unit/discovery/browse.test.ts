import { describe, expect, it } from "vitest";
import { type HubAdvert, SERVICE_TYPE } from "../../../src/discovery/advert.ts";
import { Advertiser } from "../../../src/discovery/advertiser.ts";
import { browseHubs } from "../../../src/discovery/browse.ts";
import { MemoryLink, MemoryNetwork } from "../../../src/discovery/memory-network.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const advert: HubAdvert = {
  id: "a",
  name: "desk",
  version: "0.1.0",
  port: 8377,
  isTls: false,
  path: "",
  fingerprint: "fp",
};

function networkOn(link: MemoryLink, address: string): MemoryNetwork {
  const network = new MemoryNetwork();
  network.list = [{ on: { name: "eth0", address, addresses: [address] }, link }];
  return network;
}

describe("browsing", () => {
  it("C5.discovery a hub on the link is found with where it listens", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const advertiser = new Advertiser({ advert, network: networkOn(link, "192.0.2.1"), clock, listensOn: () => true });
    advertiser.start();
    await clock.advance(2000);
    const browsing = browseHubs({ network: networkOn(link, "192.0.2.2"), clock, durationMs: 3000 });
    await clock.advance(3000);
    expect(await browsing).toMatchObject({
      hubs: [{ id: "a", name: "desk", urls: ["http://192.0.2.1:8377"], isAuthRequired: true }],
      failures: [],
      hasNetwork: true,
    });
    await advertiser.stop();
    expect([link.socketCount, clock.pendingCount]).toEqual([0, 0]);
  });

  it("C5.discovery what a terse responder left out is asked for", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const asked: string[] = [];
    const name = `desk.${SERVICE_TYPE}`;
    const answers = {
      PTR: { type: "PTR", name: SERVICE_TYPE, ttl: 60, data: name },
      SRV: { type: "SRV", name, ttl: 60, data: { port: 80, target: "host.local" } },
      TXT: { type: "TXT", name, ttl: 60, data: ["id=a"] },
      A: { type: "A", name: "host.local", ttl: 60, data: "192.0.2.3" },
    } as const;
    link.ask = (questions) => {
      for (const { type } of questions) {
        asked.push(type);
        if (type in answers) link.send([answers[type as keyof typeof answers]]);
      }
    };
    const browsing = browseHubs({ network: networkOn(link, "192.0.2.2"), clock, durationMs: 3000 });
    await clock.advance(3000);
    expect((await browsing).hubs).toMatchObject([{ host: "host.local", addresses: ["192.0.2.3"] }]);
    expect(asked).toEqual(["PTR", "PTR", "SRV", "TXT", "PTR", "A", "PTR"]);
  });

  it("C5.discovery a hub that says goodbye while we listen is not listed", async () => {
    const [clock, link] = [new ManualClock(), new MemoryLink()];
    const advertiser = new Advertiser({ advert, network: networkOn(link, "192.0.2.1"), clock, listensOn: () => true });
    advertiser.start();
    await clock.advance(2000);
    const browsing = browseHubs({ network: networkOn(link, "192.0.2.2"), clock, durationMs: 900 });
    await clock.advance(500);
    await advertiser.stop();
    await clock.advance(400);
    expect((await browsing).hubs).toEqual([]);
  });

  it("C5.discovery no network is told apart from no hub", async () => {
    const clock = new ManualClock();
    const browsing = browseHubs({ network: new MemoryNetwork(), clock, durationMs: 100 });
    await clock.advance(100);
    expect(await browsing).toEqual({ hubs: [], failures: [], hasNetwork: false });
  });

  it("an aborted browse ends at once and closes its sockets", async () => {
    const [clock, link, controller] = [new ManualClock(), new MemoryLink(), new AbortController()];
    const { signal } = controller;
    const browsing = browseHubs({ network: networkOn(link, "192.0.2.2"), clock, durationMs: 3000, signal });
    controller.abort(new Error("enough"));
    await expect(browsing).rejects.toThrow("enough");
    expect([link.socketCount, clock.pendingCount]).toEqual([0, 0]);
  });
});
