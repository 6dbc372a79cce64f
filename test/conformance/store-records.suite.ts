/** Prompt outcomes, interactions, devices and the audit, the same for every store. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deviceId, interactionId, promptId } from "../../src/protocol/ids.ts";
import type { Store } from "../../src/store/ports.ts";
import { device, interaction, keyOf, prompt } from "../support/store-samples.ts";
import type { MakeStore } from "./store.suite.ts";

const A = keyOf("a");
const PHONE = deviceId("phone");
const DAY_MS = 86_400_000;

export function storeRecordsSuite(name: string, make: MakeStore): void {
  let store: Store;
  beforeEach(() => {
    store = make({ onError: (error) => expect.unreachable(error.message), onDurable: () => undefined });
  });
  afterEach(() => store.close());

  describe(`${name}: prompts`, () => {
    test("P3 an outcome is known by device, session and prompt id, and moves from waiting to done", () => {
      store.prompts.put(prompt(A, "p1"));
      expect(store.prompts.get(PHONE, A, promptId("p1"))).toEqual(prompt(A, "p1"));
      const done = prompt(A, "p1", { state: "done", stopReason: "end_turn", at: 2_000 });
      store.prompts.put(done);
      expect(store.prompts.get(PHONE, A, promptId("p1"))).toEqual(done);
      const failed = prompt(A, "p2", { state: "done", error: { code: -32603, message: "agent exited" } });
      store.prompts.put(failed);
      expect(store.prompts.get(PHONE, A, promptId("p2"))).toEqual(failed);
      expect(store.prompts.get(deviceId("laptop"), A, promptId("p1"))).toBeUndefined();
      expect(store.prompts.get(PHONE, keyOf("b"), promptId("p1"))).toBeUndefined();
    });

    test("P3 outcomes are kept 24 h, by a clock set a week ahead too, and not for ever", () => {
      store.prompts.put(prompt(A, "old", { at: 1_000 }));
      store.prompts.put(prompt(A, "young", { at: 1_001 }));
      expect(store.prompts.prune(1_000 + DAY_MS + 7 * DAY_MS)).toBe(0);
      expect(store.prompts.prune(1_001 + 8 * DAY_MS)).toBe(1);
      expect(store.prompts.get(PHONE, A, promptId("old"))).toBeUndefined();
      expect(store.prompts.get(PHONE, A, promptId("young"))).toBeDefined();
    });

    test("P3 a session keeps its newest 256 outcomes", () => {
      store.prompts.put(prompt(keyOf("b"), "of another session", { at: 1 }));
      for (let n = 0; n < 260; n++) store.prompts.put(prompt(A, `p${n}`, { at: 1_000 + n }));
      const kept = Array.from({ length: 260 }, (_, n) => store.prompts.get(PHONE, A, promptId(`p${n}`)) !== undefined);
      expect(kept.slice(0, 4)).toEqual([false, false, false, false]);
      expect(kept.slice(4)).not.toContain(false);
      expect(store.prompts.get(PHONE, keyOf("b"), promptId("of another session"))).toBeDefined();
    });
  });

  describe(`${name}: interactions`, () => {
    const settled = {
      action: "answered",
      answer: { outcome: "selected", optionId: "allow" },
      deviceId: PHONE,
      connectionId: "c1",
      name: "Ada's phone",
      at: 3_000,
    };

    test("X13 a settling records what, who and when, once", () => {
      store.interactions.open(interaction(A, "i1"));
      expect(store.interactions.settle(interactionId("i1"), settled)).toBe(true);
      expect(store.interactions.settle(interactionId("i1"), { action: "cancelled", at: 4_000 })).toBe(false);
      expect(store.interactions.settle(interactionId("nobody"), settled)).toBe(false);
      expect(store.interactions.get(interactionId("i1"))).toEqual({ ...interaction(A, "i1"), settled });
    });

    test("X13 one that is offered again after a re-dial keeps its first record", () => {
      store.interactions.open(interaction(A, "i1", { openedAt: 5 }));
      store.interactions.settle(interactionId("i1"), settled);
      store.interactions.open(interaction(A, "i1", { openedAt: 9 }));
      expect(store.interactions.get(interactionId("i1"))).toMatchObject({ openedAt: 5, settled: { at: 3_000 } });
    });

    test("C3.interactions open ones are listed oldest first", () => {
      store.interactions.open(interaction(A, "late", { openedAt: 20 }));
      store.interactions.open(interaction(A, "early", { openedAt: 10 }));
      store.interactions.open(interaction(A, "done", { openedAt: 5 }));
      store.interactions.settle(interactionId("done"), settled);
      expect(store.interactions.listOpen().map((record) => record.interactionId)).toEqual(["early", "late"]);
      expect(store.interactions.history(A, 2).map((record) => record.interactionId)).toEqual(["late", "early"]);
    });

    test("settled ones are forgotten by age, open ones never", () => {
      store.interactions.open(interaction(A, "open"));
      store.interactions.open(interaction(A, "settled"));
      store.interactions.settle(interactionId("settled"), settled);
      expect(store.interactions.prune(3_000)).toBe(0);
      expect(store.interactions.prune(3_001)).toBe(1);
      expect(store.interactions.history(A, 10).map((record) => record.interactionId)).toEqual(["open"]);
    });
  });

  describe(`${name}: devices`, () => {
    test("C2.tokens a device comes back as it was put, with visits noted", () => {
      const full = device("phone", {
        kind: "script",
        scopes: ["sessions:read", "admin"],
        queryAllowed: true,
        createdBy: "laptop",
        expiresAt: 9_000,
        revokedAt: 8_000,
        revokedWhy: "by its owner",
      });
      store.devices.putDevice(full);
      expect(store.devices.getDevice(PHONE)).toEqual(full);
      store.devices.seen(PHONE, 7_000, "192.0.2.7");
      store.devices.seen(deviceId("nobody"), 7_000, "192.0.2.8");
      expect(store.devices.getDevice(PHONE)).toEqual({ ...full, lastSeenAt: 7_000, lastAddress: "192.0.2.7" });
      store.devices.putDevice(device("laptop", { createdAt: 1 }));
      expect(store.devices.listDevices().map((record) => record.deviceId)).toEqual(["laptop", "phone"]);
    });

    test("C2.tokens a secret is replaced once: of two that try, one wins", () => {
      store.devices.putDevice(device("phone"));
      const credential = {
        id: "hash",
        deviceId: PHONE,
        kind: "refresh",
        secretHash: "first",
        createdAt: 1,
        expiresAt: 50,
      } as const;
      store.devices.putCredential(credential);
      expect(store.devices.getCredential("hash")).toEqual(credential);
      const tries = ["second", "third"].map((secretHash) =>
        store.devices.replaceSecret("hash", "first", { secretHash, expiresAt: 90 }),
      );
      expect(tries).toEqual([true, false]);
      expect(store.devices.replaceSecret("unknown", "first", { secretHash: "x", expiresAt: 1 })).toBe(false);
      expect(store.devices.getCredential("hash")).toEqual({ ...credential, secretHash: "second", expiresAt: 90 });
      expect(() => store.devices.putCredential(credential)).toThrow(expect.objectContaining({ code: "constraint" }));
    });

    test("C2.tokens credentials belong to a device that exists and go with its revocation or their end", () => {
      expect(() =>
        store.devices.putCredential({ id: "x", deviceId: deviceId("nobody"), kind: "token", createdAt: 1 }),
      ).toThrow(expect.objectContaining({ code: "constraint" }));
      store.devices.putDevice(device("phone"));
      store.devices.putDevice(device("laptop"));
      store.devices.putCredential({ id: "1", deviceId: PHONE, kind: "refresh", createdAt: 1, expiresAt: 10 });
      store.devices.putCredential({ id: "2", deviceId: PHONE, kind: "browser", createdAt: 2, secretHash: "k" });
      store.devices.putCredential({ id: "3", deviceId: deviceId("laptop"), kind: "token", createdAt: 3 });
      expect(store.devices.listCredentials(PHONE).map((credential) => credential.id)).toEqual(["1", "2"]);
      expect(store.devices.pruneCredentials(11)).toBe(1);
      store.devices.deleteCredentials(PHONE);
      expect(store.devices.listCredentials(PHONE)).toEqual([]);
      expect(store.devices.getCredential("3")).toBeDefined();
    });
  });

  describe(`${name}: audit`, () => {
    test("X13 entries are numbered, read by cursor and by their end", () => {
      const entry = (n: number) => ({
        at: n,
        actor: { deviceId: "phone", name: "Ada's phone", ...(n % 2 === 0 && { address: "192.0.2.7" }) },
        action: "interaction.settle",
        target: `i${n}`,
        ...(n === 3 && { detail: { optionId: "allow", text: { length: 5 } } }),
      });
      for (let n = 1; n <= 5; n++) expect(store.audit.append(entry(n))).toBe(true);
      expect(store.audit.tail(2).map((record) => record.target)).toEqual(["i4", "i5"]);
      expect(store.audit.tail(99)).toHaveLength(5);
      const first = store.audit.read(0, 3);
      expect(first).toEqual([1, 2, 3].map((n) => ({ ...entry(n), id: n })));
      expect(store.audit.read(first.at(-1)?.id ?? 0, 10).map((record) => record.target)).toEqual(["i4", "i5"]);
    });

    const DEVICE = { deviceId: "phone", connectionId: "c_7", name: "Ada's phone" };
    const fill = (count: number, at: (n: number) => number): void => {
      for (let n = 1; n <= count; n++) store.audit.append({ at: at(n), actor: DEVICE, action: `a${n}` });
    };
    const actions = (): string[] => store.audit.read(0, 999).map(({ action }) => action);

    test("X13 an entry names the connection where there was one", () => {
      fill(1, () => 1);
      expect(store.audit.tail(1)[0]?.actor).toEqual(DEVICE);
    });

    test("X13 the oldest entries go by age, a day's worth at once, and an entry says which went", () => {
      fill(4, (n) => n * DAY_MS);
      const policy = { at: 9 * DAY_MS, countMax: 1_000 };
      expect(store.audit.prune({ ...policy, before: 2 * DAY_MS })).toBe(0);
      expect(store.audit.prune({ ...policy, before: 2 * DAY_MS + 1 })).toBe(2);
      expect(actions()).toEqual(["a3", "a4", "audit.prune"]);
      expect(store.audit.tail(1)).toEqual([
        {
          id: 5,
          at: 9 * DAY_MS,
          actor: { deviceId: "hub", name: "the hub" },
          action: "audit.prune",
          target: "1-2",
          detail: { count: 2, from: DAY_MS, until: 2 * DAY_MS },
        },
      ]);
    });

    test("X13 the oldest entries go by number, a hundredth at once, and ids go on", () => {
      fill(201, (n) => n);
      expect(store.audit.prune({ at: 500, countMax: 201 })).toBe(0);
      expect(store.audit.prune({ at: 500, countMax: 200 })).toBe(3);
      expect(store.audit.read(0, 1)[0]).toMatchObject({ id: 4, action: "a4" });
      expect(store.audit.tail(1)).toMatchObject([{ id: 202, action: "audit.prune", target: "1-3" }]);
      expect(store.audit.read(200, 9).map(({ id }) => id)).toEqual([201, 202]);
      expect(store.audit.prune({ at: 501, countMax: 200 })).toBe(0);
      store.audit.append({ at: 502, actor: DEVICE, action: "next" });
      expect(store.audit.tail(1)[0]?.id).toBe(203);
    });

    test("X13 an entry with a later time holds those after it, but not for ever", () => {
      fill(3, (n) => (n === 1 ? 99 * DAY_MS : n));
      expect(store.audit.prune({ at: 100 * DAY_MS, before: 50 * DAY_MS, countMax: 9 })).toBe(0);
      expect(store.audit.prune({ at: 100 * DAY_MS, before: 50 * DAY_MS, countMax: 2 })).toBe(1);
      expect(actions()).toEqual(["a2", "a3", "audit.prune"]);
    });
  });
}
