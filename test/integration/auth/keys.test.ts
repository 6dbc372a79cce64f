import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KeyRing } from "../../../src/auth/tokens/keys.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const DAY_MS = 86_400_000;

describe("signing keys", () => {
  let dir: string;
  let clock: ManualClock;
  beforeEach(() => {
    dir = join(mkdtempSync(join(tmpdir(), "acp-hub-keys-")), "keys");
    clock = new ManualClock();
  });
  afterEach(() => rmSync(join(dir, ".."), { recursive: true }));

  const open = (): Promise<KeyRing> => KeyRing.open({ dir, clock, overlapMs: 30 * DAY_MS });
  const files = (): string[] => readdirSync(dir);
  const kids = (ring: KeyRing): unknown[] => ring.jwks().keys.map((key) => key.kid);

  test("C1.files keys are files of 0600 in a directory of 0700, and nothing but keys is left there", async () => {
    await open();
    expect(files()).toEqual([expect.stringMatching(/^signing-[A-Za-z0-9_-]{43}\.json$/)]);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, files()[0] ?? "")).mode & 0o777).toBe(0o600);
  });

  test("C2.tokens the key is the same after a restart, and its public half alone is shown", async () => {
    const first = await open();
    const again = await open();
    expect(again.fingerprint).toBe(first.fingerprint);
    expect(again.jwks()).toEqual({
      keys: [{ kty: "OKP", crv: "Ed25519", x: expect.any(String), kid: first.fingerprint, alg: "EdDSA", use: "sig" }],
    });
  });

  test("C2.tokens after a rotation the old key verifies until its last token has ended, then its file is gone", async () => {
    const ring = await open();
    const old = ring.fingerprint;
    await clock.advance(DAY_MS);
    await ring.rotate();
    expect(ring.fingerprint).not.toBe(old);
    expect(kids(ring)).toEqual([ring.fingerprint, old]);
    await clock.advance(30 * DAY_MS - 1);
    expect(ring.find(old)).toBeDefined();
    expect(kids(await open())).toEqual([ring.fingerprint, old]);
    await clock.advance(1);
    expect(ring.find(old)).toBeUndefined();
    expect(kids(ring)).toEqual([ring.fingerprint]);
    expect(kids(await open())).toEqual([ring.fingerprint]);
    expect(files()).toHaveLength(1);
  });

  test("C2.tokens a key of 90 days is replaced at the next start", async () => {
    const first = await open();
    await clock.advance(90 * DAY_MS + 1);
    const next = await open();
    expect(kids(next)).toEqual([next.fingerprint, first.fingerprint]);
  });

  test("rights that were too wide are tightened and told", async () => {
    await open();
    const path = join(dir, files()[0] ?? "");
    chmodSync(path, 0o644);
    const ring = await open();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(ring.notices).toEqual([expect.stringContaining(path)]);
  });

  test("files that are no keys, swapped names and links are told and not used, and none of them is touched", async () => {
    const ring = await open();
    const real = readFileSync(join(dir, files()[0] ?? ""), "utf8");
    const fake = (letter: string): string => join(dir, `signing-${letter.repeat(43)}.json`);
    writeFileSync(fake("A"), "{ half a key");
    writeFileSync(fake("B"), real);
    writeFileSync(fake("C"), real.replace(ring.fingerprint, "C".repeat(43)));
    writeFileSync(fake("D"), JSON.stringify({ version: 99 }));
    symlinkSync("/etc/hostname", fake("E"));
    const again = await open();
    expect(kids(again)).toEqual([ring.fingerprint]);
    expect(again.notices.filter((notice) => notice.includes("not used"))).toHaveLength(5);
    expect(again.notices.join()).not.toContain(/"d":"([^"]+)"/.exec(real)?.[1]);
    expect(files()).toHaveLength(6);
  });
});
