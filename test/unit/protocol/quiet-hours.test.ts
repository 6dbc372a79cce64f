import { describe, expect, it } from "vitest";
import { isQuietAt, readQuietHours } from "../../../src/protocol/quiet-hours.ts";

const at = (iso: string): number => Date.parse(iso);
const hours = (from: string, to: string, timeZone = "UTC") => ({ from, to, timeZone, letsQuestionsThrough: false });

describe("quiet hours", () => {
  it("begin with their first minute and end before their last", () => {
    const noon = hours("12:00", "13:30");
    expect(isQuietAt(noon, at("2026-05-01T11:59:59Z"))).toBe(false);
    expect(isQuietAt(noon, at("2026-05-01T12:00:00Z"))).toBe(true);
    expect(isQuietAt(noon, at("2026-05-01T13:29:59Z"))).toBe(true);
    expect(isQuietAt(noon, at("2026-05-01T13:30:00Z"))).toBe(false);
  });

  it("go over midnight", () => {
    const night = hours("22:00", "07:00");
    expect(
      ["21:59", "22:00", "00:00", "06:59", "07:00"].map((time) => isQuietAt(night, at(`2026-05-01T${time}:00Z`))),
    ).toEqual([false, true, true, true, false]);
  });

  it("are those of the device's own clock, summer time included", () => {
    const night = hours("22:00", "07:00", "Europe/Berlin");
    // 05:30 UTC is half past six in winter and half past seven in summer.
    expect(isQuietAt(night, at("2026-01-15T05:30:00Z"))).toBe(true);
    expect(isQuietAt(night, at("2026-07-15T05:30:00Z"))).toBe(false);
    expect(isQuietAt(hours("22:00", "07:00", "Asia/Kolkata"), at("2026-05-01T16:29:00Z"))).toBe(false);
    expect(isQuietAt(hours("22:00", "07:00", "Asia/Kolkata"), at("2026-05-01T16:30:00Z"))).toBe(true);
  });

  it.each([
    [{ ...hours("22:00", "07:00"), from: "24:00" }, "quietHours.from"],
    [{ ...hours("22:00", "07:00"), to: "7:00" }, "quietHours.to"],
    [hours("07:00", "07:00"), "quietHours.to"],
    [hours("22:00", "07:00", "Mars/Olympus"), "quietHours.timeZone"],
    [hours("22:00", "07:00", ""), "quietHours.timeZone"],
    ["22-07", "quietHours"],
  ])("%j is refused by the name of what is wrong", (value, name) => {
    expect(readQuietHours(value)).toContain(`"${name}"`);
  });

  it("keep what they are given", () => {
    const given = { ...hours("22:00", "07:00"), letsQuestionsThrough: true };
    expect(readQuietHours(given)).toEqual(given);
  });
});
