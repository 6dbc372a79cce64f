import { describe, expect, it } from "vitest";
import { swiftPatterns } from "../../../src/hub/http/ignore-rules.ts";

describe("patterns of a workspace", () => {
  it("are kept but for those that could take long", () => {
    const usual = ["dist/", "*.log", "!keep.log", "/build", "npm-debug.log*", "**/cache/**", "*.py[cod]", "\\#odd"];
    expect(swiftPatterns(["# a comment", "", ...usual].join("\r\n"))).toEqual(usual);
    expect(swiftPatterns("*a*a*a*b\n**/a/**/b/**/c\n".concat("x".repeat(200)))).toEqual([]);
    expect(swiftPatterns("a\n".repeat(900))).toHaveLength(500);
  });
});
