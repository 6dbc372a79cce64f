import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { changedPreferences, PreferenceStore } from "../../../../src/hub/push/preferences.ts";
import { hushOf, type PushPreferences } from "../../../../src/protocol/push-preferences.ts";

const NIGHT = { from: "22:00", to: "07:00", timeZone: "UTC", letsQuestionsThrough: false };
const NONE: PushPreferences = { quietHours: undefined, mutedSessions: [] };
const MIDNIGHT = Date.parse("2026-05-01T00:00:00Z");

describe("what a device wants to be told", () => {
  it("is everything until it says otherwise", () => {
    expect(hushOf(NONE, "turn-ended", "s1", MIDNIGHT)).toBeUndefined();
  });

  it("a muted session is silent, its questions too, and no other is", () => {
    const muted = { ...NONE, mutedSessions: ["s1"] };
    expect(hushOf(muted, "needs-you", "s1", MIDNIGHT)).toBe("muted");
    expect(hushOf(muted, "needs-you", "s2", MIDNIGHT)).toBeUndefined();
    expect(hushOf(muted, "needs-you", undefined, MIDNIGHT)).toBeUndefined();
  });

  it("quiet hours keep everything back, or all but questions", () => {
    const strict = { ...NONE, quietHours: NIGHT };
    const open = { ...NONE, quietHours: { ...NIGHT, letsQuestionsThrough: true } };
    expect(hushOf(strict, "needs-you", "s1", MIDNIGHT)).toBe("quiet-hours");
    expect(hushOf(open, "needs-you", "s1", MIDNIGHT)).toBeUndefined();
    expect(hushOf(open, "turn-ended", "s1", MIDNIGHT)).toBe("quiet-hours");
    expect(hushOf({ ...open, mutedSessions: ["s1"] }, "needs-you", "s1", MIDNIGHT)).toBe("muted");
  });

  it("changes by the members given, and forgets the oldest of too many mutes", () => {
    const one = changedPreferences(NONE, { quietHours: NIGHT, mute: "s1" });
    expect(one).toEqual({ quietHours: NIGHT, mutedSessions: ["s1"] });
    expect(changedPreferences(one as PushPreferences, { unmute: "s1" })).toEqual({
      quietHours: NIGHT,
      mutedSessions: [],
    });
    expect(changedPreferences(one as PushPreferences, { quietHours: null })).toEqual({
      ...NONE,
      mutedSessions: ["s1"],
    });
    expect(changedPreferences(NONE, { mute: "" })).toContain('"mute"');
    expect(changedPreferences(NONE, { unmute: 7 })).toContain('"unmute"');
    expect(changedPreferences(NONE, { quietHours: 7 })).toContain('"quietHours"');
    let many: PushPreferences = NONE;
    for (let index = 0; index < 201; index += 1)
      many = changedPreferences(many, { mute: `s${index}` }) as PushPreferences;
    expect(many.mutedSessions).toHaveLength(200);
    expect(many.mutedSessions[0]).toBe("s1");
  });
});

describe("the file of wishes", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-wishes-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const reopened = async (): Promise<PreferenceStore> => {
    const store = new PreferenceStore(dir);
    await store.load();
    return store;
  };

  it("is there after a restart, for its owner alone; the last of many writes stays", async () => {
    const store = await reopened();
    await Promise.all(
      ["a", "b", "c", "d"].map((id) => store.put("d_phone", { quietHours: NIGHT, mutedSessions: [id] })),
    );
    expect((await reopened()).of("d_phone")).toEqual({ quietHours: NIGHT, mutedSessions: ["d"] });
    expect(statSync(join(dir, "push-preferences.json")).mode & 0o777).toBe(0o600);
    await store.remove("d_phone");
    expect((await reopened()).devices()).toEqual([]);
  });

  it("leaves out what it cannot read", async () => {
    writeFileSync(
      join(dir, "push-preferences.json"),
      JSON.stringify({ version: 1, devices: { a: { quietHours: { from: "x" }, mutedSessions: ["s1", 7] }, b: 1 } }),
    );
    expect((await reopened()).of("a")).toEqual({ quietHours: undefined, mutedSessions: ["s1"] });
    writeFileSync(join(dir, "push-preferences.json"), '{"dev');
    expect((await reopened()).devices()).toEqual([]);
  });
});
