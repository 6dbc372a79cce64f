import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { cleanName, Devices, type NewDevice } from "../../../src/auth/devices.ts";
import type { AuditEvent, CredentialStore } from "../../../src/auth/ports.ts";
import { RefreshTokens } from "../../../src/auth/tokens/refresh.ts";
import type { DeviceRecord } from "../../../src/protocol/devices.ts";
import { deviceId } from "../../../src/protocol/ids.ts";
import { PRESETS } from "../../../src/protocol/scopes.ts";
import { MemoryDevices } from "../../../src/store/memory/devices.ts";
import type { DeviceStore } from "../../../src/store/ports.ts";
import { countedRandom } from "../../support/auth-fixture.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const BY = { deviceId: "local", name: "this computer" };

describe("devices", () => {
  let clock: ManualClock;
  let audit: AuditEvent[];
  let store: DeviceStore;
  let devices: Devices;

  beforeEach(() => {
    clock = new ManualClock();
    audit = [];
    store = new MemoryDevices();
    // The store's port satisfies ours: neither folder knows the other.
    const port: CredentialStore = store;
    devices = new Devices({
      store: port,
      audit: { append: (event) => audit.push(event) },
      clock,
      random: countedRandom(),
    });
  });

  const make = (over: Partial<NewDevice> = {}): DeviceRecord =>
    devices.create({ name: "phone", kind: "app", scopes: PRESETS.driver, ...over });

  test("C3.devices a revoked device is dead in the same turn, and its listeners hear of it once", () => {
    const { deviceId: id } = make();
    const heard: string[] = [];
    const stop = devices.onRevoked((revoked) => heard.push(revoked));
    store.putCredential({ id: "hash", deviceId: id, kind: "refresh", createdAt: 1 });
    expect(devices.revoke(id, "lost", BY)).toBe(true);
    expect(heard).toEqual([id]);
    expect(devices.live(id)).toMatchObject({ code: "revoked-device" });
    expect(store.listCredentials(id)).toEqual([]);
    expect(devices.revoke(id, "again", BY)).toBe(false);
    expect(devices.get(id)).toMatchObject({ revokedWhy: "lost", revokedAt: clock.now() });
    expect(audit).toEqual([
      { at: clock.now(), actor: BY, action: "device.revoke", target: id, detail: { why: "lost" } },
    ]);
    stop();
    devices.revoke(make().deviceId, "lost", BY);
    expect(heard).toEqual([id]);
  });

  test("C2.reread rights are what the record says at the moment they are asked for", async () => {
    const record = make({ expiresAt: clock.now() + 1_000 });
    expect(devices.live(record.deviceId)).toMatchObject({ scopes: PRESETS.driver });
    devices.replace({ ...record, scopes: ["sessions:read"] });
    expect(devices.live(record.deviceId)).toMatchObject({ scopes: ["sessions:read"] });
    await clock.advance(1_000);
    expect(devices.live(record.deviceId)).toMatchObject({ code: "expired-credential" });
    expect(devices.live(deviceId("nobody"))).toMatchObject({ code: "revoked-device" });
  });

  test("C3.devices a rename is recorded with both names", () => {
    const { deviceId: id } = make();
    expect(devices.rename(id, "  Ada's   phone ", BY)).toBe(true);
    expect(devices.get(id)?.name).toBe("Ada's phone");
    expect(audit[0]).toMatchObject({ action: "device.rename", detail: { from: "phone", to: "Ada's phone" } });
    expect(devices.rename(deviceId("nobody"), "x", BY)).toBe(false);
  });

  test("a visit is written down once a minute, and a store that fails keeps nobody out", async () => {
    const { deviceId: id } = make();
    let writes = 0;
    const seen = store.seen.bind(store);
    store.seen = (...args) => {
      writes++;
      seen(...args);
    };
    devices.seen(id, "192.0.2.1");
    await clock.advance(59_999);
    devices.seen(id, "192.0.2.2");
    expect(writes).toBe(1);
    await clock.advance(1);
    devices.seen(id, "192.0.2.3");
    expect(devices.get(id)).toMatchObject({ lastSeenAt: clock.now(), lastAddress: "192.0.2.3" });
    store.seen = () => {
      throw new Error("disk full");
    };
    await clock.advance(60_000);
    expect(() => devices.seen(id, "192.0.2.4")).not.toThrow();
  });

  test("incident 23: a name shows what it is: nothing invisible, nothing that turns text around, nothing endless", () => {
    expect(cleanName("evil\u202Egnp.exe", "x")).toBe("evil gnp.exe");
    expect(cleanName("\u0000\u200b\n", "unnamed")).toBe("unnamed");
    expect(cleanName("👩‍💻 laptop", "x")).toContain("laptop");
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
        const clean = cleanName(name, "unnamed");
        expect(clean).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect([...clean].length).toBeLessThanOrEqual(64);
        expect(clean.trim()).toBe(clean);
        expect(clean).not.toBe("");
      }),
    );
  });
});

describe("refresh credentials", () => {
  const clock = new ManualClock();
  const store = new MemoryDevices();
  const refresh = new RefreshTokens(store, clock, countedRandom());
  const PHONE = deviceId("phone");
  store.putDevice({ deviceId: PHONE, name: "phone", kind: "app", scopes: [], queryAllowed: false, createdAt: 0 });

  const rotated = (token: string): string => {
    const answer = refresh.rotate(token);
    if (answer.kind !== "rotated") throw new Error(answer.kind);
    return answer.refreshToken;
  };

  test("C2.tokens each use gives another one, and any earlier one is known as reuse, however old", () => {
    const tokens = [refresh.issue(PHONE)];
    for (let n = 0; n < 50; n++) tokens.push(rotated(tokens.at(-1) ?? ""));
    expect(new Set(tokens).size).toBe(51);
    for (const old of tokens.slice(0, -1)) expect(refresh.rotate(old)).toEqual({ kind: "reused", deviceId: PHONE });
    expect(refresh.rotate(tokens.at(-1) ?? "")).toMatchObject({ kind: "rotated" });
    expect(store.listCredentials(PHONE)).toHaveLength(1);
  });

  test("C2.tokens of two uses at the same time one is reuse", () => {
    const token = refresh.issue(PHONE);
    const replaceSecret = store.replaceSecret.bind(store);
    // The other use comes between our reading and our writing.
    store.replaceSecret = (id, from, to) => {
      store.replaceSecret = replaceSecret;
      expect(refresh.rotate(token)).toMatchObject({ kind: "rotated" });
      return replaceSecret(id, from, to);
    };
    expect(refresh.rotate(token)).toEqual({ kind: "reused", deviceId: PHONE });
  });

  test("C2.tokens only hashes are stored, and what is stored opens nothing", () => {
    const token = refresh.issue(PHONE);
    const [family = "", secret = ""] = token.replace("ahr_", "").split(".");
    const stored = store.listCredentials(PHONE);
    for (const part of [family, secret]) expect(JSON.stringify(stored)).not.toContain(part);
    for (const { id, secretHash } of stored) {
      expect(refresh.rotate(`ahr_${id.slice(0, 22)}.${secretHash}`)).toMatchObject({ kind: "refused" });
    }
  });

  test("C2.tokens a device that stays away 90 days pairs again, one that comes stays", async () => {
    let token = refresh.issue(PHONE);
    await clock.advance(89 * 86_400_000);
    token = rotated(token);
    await clock.advance(89 * 86_400_000);
    token = rotated(token);
    await clock.advance(90 * 86_400_000);
    expect(refresh.rotate(token)).toMatchObject({ kind: "refused", failure: { code: "expired-credential" } });
  });

  test("C2.tokens junk is refused and is no reuse", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^ahr_[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/)), (junk) => {
        expect(refresh.rotate(junk)).toMatchObject({ kind: "refused", failure: { code: "invalid-credential" } });
      }),
    );
  });
});
