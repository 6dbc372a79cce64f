import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import {
  type MadePairing,
  type PairingLimits,
  type PairingRequest,
  Pairings,
} from "../../../src/auth/grants/pairing.ts";
import { makeTextCode, normalizeCode } from "../../../src/auth/grants/pairing-code.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { PRESETS, SCOPES } from "../../../src/protocol/scopes.ts";
import { countedRandom, given } from "../../support/auth-fixture.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const OWNER = { name: "laptop", scopes: new Set(SCOPES) };
const WRONG = "0000-0000";

describe("pairing", () => {
  let clock: ManualClock;
  let pairings: Pairings;
  let burned: number;

  beforeEach(() => {
    clock = new ManualClock();
    burned = 0;
    pairings = pairingsOf(LIMITS);
  });

  const pairingsOf = (limits: PairingLimits): Pairings =>
    new Pairings({ clock, random: countedRandom(), limits, onBurned: (count) => (burned += count) });

  const make = (request: Partial<PairingRequest> = {}): MadePairing =>
    given(pairings.create({ scopes: PRESETS.driver, ...request }, OWNER));

  test("C3.pairing, incident 26: a code works once, by link or by hand, and the other half is used up with it", () => {
    const [byLink, byHand] = [make({ name: "phone" }), make()];
    expect(pairings.take(byLink.linkSecret)).toEqual({ scopes: PRESETS.driver, name: "phone", createdBy: "laptop" });
    expect(pairings.take(byHand.code)).toMatchObject({ createdBy: "laptop" });
    for (const code of [byLink.linkSecret, byLink.code, byHand.linkSecret, byHand.code]) {
      expect(pairings.take(code)).toMatchObject({ code: "pairing-refused" });
    }
  });

  test("C3.pairing a clock that is set back, to 1970 even, keeps no code alive", async () => {
    const made = make();
    clock.set(-clock.now());
    await clock.advance(299_999);
    expect(pairings.openCount).toBe(1);
    await clock.advance(1);
    expect(pairings.take(made.code)).toMatchObject({ code: "pairing-refused" });
  });

  test("C3.pairing, incident 26: the link's secret has 256 bits and the text code 8 characters nobody confuses", () => {
    const made = make();
    expect(made.linkSecret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(made.code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
  });

  test("C6.limits a code lives five minutes, never longer, however long it was asked for", async () => {
    const made = make({ ttlMs: 3_600_000 });
    expect(made.expiresAt).toBe(clock.now() + 300_000);
    await clock.advance(299_999);
    expect(pairings.openCount).toBe(1);
    await clock.advance(1);
    expect(pairings.take(made.code)).toMatchObject({ code: "pairing-refused" });
    const short = make({ ttlMs: 20_000 });
    await clock.advance(20_000);
    expect(pairings.take(short.linkSecret)).toMatchObject({ code: "pairing-refused" });
  });

  test("C6.limits ten wrong tries in all end every code that was open, and the burning is told", () => {
    const first = make();
    for (let n = 0; n < 9; n++) pairings.take(WRONG);
    const second = make();
    expect(pairings.openCount).toBe(2);
    pairings.take(WRONG);
    expect([pairings.openCount, burned]).toEqual([1, 1]);
    expect(pairings.take(first.linkSecret)).toMatchObject({ code: "pairing-refused" });
    expect(pairings.take(second.code)).toMatchObject({ createdBy: "laptop" });
  });

  test("C6.limits how long a code lives and how many wrong tries end it are configured", async () => {
    pairings = pairingsOf({ pairingMs: 5_000, pairingWrongTriesMax: 2 });
    expect(make().expiresAt).toBe(clock.now() + 5_000);
    expect(make({ ttlMs: 1 }).expiresAt).toBe(clock.now() + 5_000);
    await clock.advance(5_000);
    expect(pairings.openCount).toBe(0);
    make();
    pairings.take(WRONG);
    expect(pairings.openCount).toBe(1);
    pairings.take(WRONG);
    expect([pairings.openCount, burned]).toEqual([0, 1]);
    pairings = pairingsOf({ ...LIMITS, pairingMs: 3_600_000 });
    expect(make({ ttlMs: 7_200_000 }).expiresAt).toBe(clock.now() + 3_600_000);
    expect(make({ ttlMs: 600_000 }).expiresAt).toBe(clock.now() + 600_000);
  });

  test("C3.pairing, incident 9: nobody gives more than they have, whatever they declare", () => {
    const approver = { name: "tablet", scopes: new Set(PRESETS.approver) };
    expect(pairings.create({ scopes: PRESETS.viewer }, approver)).toMatchObject({ scopes: PRESETS.viewer });
    for (const scopes of [PRESETS.owner, ["admin"], ["sessions:read", "sessions:prompt"], []] as const) {
      expect(pairings.create({ scopes }, approver)).toMatchObject({ code: "scope-exceeds-issuer", status: 403 });
    }
  });

  test("open codes are bounded", () => {
    for (let n = 0; n < 32; n++) make();
    expect(pairings.create({ scopes: PRESETS.viewer }, OWNER)).toMatchObject({ code: "too-many-pairings" });
  });

  test("what people type is read generously, and nothing else opens anything", () => {
    expect(normalizeCode(" ab1c-o0lI ")).toBe("AB1C0011");
    const random = countedRandom();
    fc.assert(
      fc.property(fc.constant(undefined), fc.func(fc.boolean()), () => {
        const code = makeTextCode(random);
        const typed = code.replace("-", " ").toLowerCase().replace(/0/g, "o").replace(/1/g, "l");
        expect(normalizeCode(typed)).toBe(normalizeCode(code));
      }),
      { numRuns: 50 },
    );
    const made = make();
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (junk) => {
        const fresh = pairingsOf(LIMITS);
        const { code, linkSecret } = given(fresh.create({ scopes: PRESETS.viewer }, OWNER));
        fc.pre(normalizeCode(junk) !== normalizeCode(code) && junk.trim() !== linkSecret);
        expect(fresh.take(junk)).toMatchObject({ code: "pairing-refused" });
      }),
    );
    expect(pairings.take(made.code)).toMatchObject({ scopes: PRESETS.driver });
  });
});
