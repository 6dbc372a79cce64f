import { describe, expect, it } from "vitest";
import { chooseCoding, isKnownAlready } from "../../../src/hub/http/content-coding.ts";

describe("chooseCoding", () => {
  it.each([
    // What browsers send: over TLS, and in the clear.
    ["gzip, deflate, br, zstd", "br"],
    ["gzip, deflate", "gzip"],
    ["GZIP", "gzip"],
    ["x-gzip", "gzip"],
    ["br;q=1.0, gzip;q=0.8, *;q=0.1", "br"],
    ["br;q=0.1, gzip;q=0.8", "gzip"],
    ["br ; q=0.5 , gzip ; q=0.5", "br"],
    ["*", "br"],
    ["*;q=0.5, br;q=0", "gzip"],
    ["br;q=0, gzip;q=0, *", undefined],
    ["gzip;q=0", undefined],
    ["gzip;q=0.000", undefined],
    ["gzip;q=1.000", "gzip"],
    ["identity", undefined],
    ["identity;q=0.5, gzip;q=0.4", undefined],
    ["identity;q=0.5, gzip", "gzip"],
    ["identity, gzip", "gzip"],
    ["identity;q=0, *", "br"],
    ["deflate, zstd", undefined],
    ["x-gzip-not", undefined],
    ["brr, xbr", undefined],
    // No weight of the standard: not understood, not offered.
    ["gzip;q=2", undefined],
    ["gzip;q=", undefined],
    ["gzip;level=9", undefined],
    ["constructor, __proto__", undefined],
    ["", undefined],
    [",,;", undefined],
    [undefined, undefined],
  ] as const)("%s → %s", (accepted, coding) => {
    expect(chooseCoding(accepted, ["br", "gzip"])).toBe(coding);
  });

  it("gives nothing that is not there", () => {
    expect(chooseCoding("br, gzip", [])).toBeUndefined();
    expect(chooseCoding("br, gzip;q=0.1", ["gzip"])).toBe("gzip");
  });
});

describe("isKnownAlready", () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['"b",W/"a"', true],
    [" * ", true],
    ['"b"', false],
    ["a", false],
    ['"a', false],
    ['"b,"a"', false],
    ["", false],
    [undefined, false],
  ] as const)("%s: %s", (header, isKnown) => {
    expect(isKnownAlready(header, '"a"')).toBe(isKnown);
  });
});
