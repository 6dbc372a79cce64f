import { describe, expect, it } from "vitest";
import {
  advertHost,
  encodeTxt,
  type Found,
  type HubAdvert,
  readFound,
  serviceLabel,
} from "../../../src/discovery/advert.ts";

const advert: HubAdvert = {
  id: "Hub-01ABCDEF",
  name: "desk",
  version: "0.1.0",
  port: 8377,
  isTls: true,
  path: "/hub",
  fingerprint: "SHA256:abcd",
};

const found = (over: Partial<Found> = {}): Found => ({
  label: "desk",
  host: advertHost(advert.id),
  port: 8377,
  addresses: ["fd00::7", "192.0.2.7"],
  txt: encodeTxt(advert),
  ...over,
});

describe("what a hub says of itself", () => {
  it("C5.discovery the TXT strings are id, version, tls, path, fingerprint and auth, and nothing else", () => {
    expect(encodeTxt(advert)).toEqual([
      "id=Hub-01ABCDEF",
      "version=0.1.0",
      "tls=1",
      "path=/hub",
      "fp=SHA256:abcd",
      "auth=required",
    ]);
  });

  it("C5.discovery a found hub has its URLs, IPv4 first", () => {
    expect(readFound(found())).toMatchObject({
      id: "Hub-01ABCDEF",
      name: "desk",
      isTls: true,
      isAuthRequired: true,
      fingerprint: "SHA256:abcd",
      urls: ["https://192.0.2.7:8377/hub", "https://[fd00::7]:8377/hub"],
    });
  });

  it("C5.discovery an answer that is no hub is not listed", () => {
    expect(readFound(found({ txt: ["version=1"] }))).toBeUndefined();
    expect(readFound(found({ txt: ["id=x", "path=/a?token=b"] }))).toBeUndefined();
    expect(readFound(found({ txt: ["id=x", "path=@evil.example/"] }))).toBeUndefined();
    expect(readFound(found({ port: 0 }))).toBeUndefined();
  });

  it("C5.discovery terminal escapes and reordering characters of a stranger do not reach the terminal", () => {
    const hub = readFound(
      found({ label: "\u001b[2Jdesk\u202e", txt: ["id=x", "version=\u001b]0;hi\u0007", "fp=\n1"] }),
    );
    expect(hub).toMatchObject({ name: "[2Jdesk", version: "]0;hi", fingerprint: "1" });
  });

  it("C5.discovery the first of a repeated key counts, and an address that is none is dropped", () => {
    const hub = readFound(
      found({ addresses: ["192.0.2.7", "evil.example", "fe80::1"], txt: ["id=x", "tls=0", "tls=1"] }),
    );
    expect(hub).toMatchObject({ isTls: false, urls: ["http://192.0.2.7:8377"], isAuthRequired: false });
  });

  it("a name fits a DNS label: no dots, no control characters, cut between characters", () => {
    expect(serviceLabel("desk.example.org")).toBe("desk-example-org");
    expect(serviceLabel("\u0007 ")).toBe("acp-hub");
    expect(Buffer.byteLength(serviceLabel("ü".repeat(60)))).toBe(56);
    expect(serviceLabel("ü".repeat(60))).toBe("ü".repeat(28));
  });

  it("the host name is the hub's own, from its id", () => {
    expect(advertHost("Hub-01_AB.cd:EF/ghijklmnop")).toBe("acp-hub-hub01abcdefghijk.local");
    expect(advertHost("+/=")).toBe("acp-hub-0.local");
  });
});
