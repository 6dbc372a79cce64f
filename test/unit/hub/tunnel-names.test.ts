import { describe, expect, it } from "vitest";
import { checkHost, checkOrigin, makeEdge } from "../../../src/hub/edge.ts";
import { TUNNEL_LEASE_MS, TunnelNames } from "../../../src/hub/tunnel-names.ts";

const url = new URL("https://Quick-Name.trycloudflare.com");

const AT = { host: "quick-name.trycloudflare.com", isHttps: false };

describe("a tunnel's name", () => {
  it("C3.order is answered for while its lease runs, host and origin alike, and no longer", () => {
    let now = 1000;
    const tunnels = new TunnelNames(() => now);
    const edge = makeEdge({ host: "127.0.0.1", port: 8377, isTls: false, tunnels });
    const verdicts = (): boolean[] => [
      checkHost(edge, "quick-name.trycloudflare.com").ok,
      checkOrigin(edge, "https://quick-name.trycloudflare.com", AT).ok,
    ];
    expect(verdicts()).toEqual([false, false]);
    tunnels.renew(url);
    expect(verdicts()).toEqual([true, true]);
    now += TUNNEL_LEASE_MS - 1;
    expect(verdicts()).toEqual([true, true]);
    tunnels.renew(url);
    now += TUNNEL_LEASE_MS;
    expect(verdicts()).toEqual([false, false]);
    tunnels.renew(url);
    tunnels.end(url);
    expect(verdicts()).toEqual([false, false]);
  });

  it("C3.order an origin of the tunnel's host by another scheme is another origin", () => {
    const tunnels = new TunnelNames(() => 0);
    tunnels.renew(url);
    const edge = makeEdge({ host: "127.0.0.1", port: 8377, isTls: false, tunnels });
    expect(checkOrigin(edge, "https://quick-name.trycloudflare.com:444", AT).ok).toBe(false);
  });

  it("tunnels are bounded, and those that ended make room", () => {
    let now = 0;
    const tunnels = new TunnelNames(() => now);
    const renewed = Array.from({ length: 9 }, (_each, index) => tunnels.renew(new URL(`https://t${index}.example`)));
    expect(renewed).toEqual([...Array<boolean>(8).fill(true), false]);
    expect(tunnels.renew(new URL("https://t0.example"))).toBe(true);
    now += TUNNEL_LEASE_MS;
    expect(tunnels.renew(new URL("https://t9.example"))).toBe(true);
  });
});
