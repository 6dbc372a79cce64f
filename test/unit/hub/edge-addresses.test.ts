import { describe, expect, it } from "vitest";
import { checkHost, makeEdge } from "../../../src/hub/edge.ts";

describe("a machine that changes networks", () => {
  it("C3.order a hub on every address answers for the one the machine has now", () => {
    let addresses = ["192.0.2.1"];
    const edge = makeEdge({ host: "0.0.0.0", port: 8377, isTls: false, addresses: () => addresses });
    expect(checkHost(edge, "192.0.2.7:8377").ok).toBe(false);
    addresses = ["192.0.2.7", "fd00::7"];
    expect(checkHost(edge, "192.0.2.7:8377").ok).toBe(true);
    expect(checkHost(edge, "[fd00::7]:8377").ok).toBe(true);
    expect(checkHost(edge, "evil.example").ok).toBe(false);
  });

  it("C3.order a hub on one address does not answer for another", () => {
    const edge = makeEdge({ host: "127.0.0.1", port: 8377, isTls: false, addresses: () => ["192.0.2.7"] });
    expect(checkHost(edge, "192.0.2.7:8377").ok).toBe(false);
  });
});
