import { describe, expect, test } from "vitest";
import { scopesFromText, scopesToText } from "../../../src/protocol/scope-text.ts";
import { PRESETS, SCOPES } from "../../../src/protocol/scopes.ts";

describe("rights in words", () => {
  test("C2.scopes a preset and a list mean what they say, and are written the shortest way", () => {
    for (const [name, scopes] of Object.entries(PRESETS)) {
      expect(scopesFromText(name)).toEqual(scopes);
      expect(scopesToText(scopes)).toBe(name);
    }
    expect(scopesFromText("driver, instances:create")).toEqual([...PRESETS.driver, "instances:create"]);
    expect(scopesToText(["sessions:read", "files:read"])).toBe("sessions:read files:read");
    expect(scopesToText([...SCOPES].reverse())).toBe("owner");
  });

  test("C2.scopes a word that is no right makes the whole text none", () => {
    for (const text of ["", " ", "root", "driver root", "constructor", "__proto__", "sessions:read:all", "ADMIN"]) {
      expect(scopesFromText(text), text).toBeUndefined();
    }
  });

  test("incident 17: starting agents is a right of its own that no driver has", () => {
    for (const preset of [PRESETS.viewer, PRESETS.approver, PRESETS.driver]) {
      expect(preset).not.toContain("instances:create");
      expect(preset).not.toContain("admin");
    }
  });
});
