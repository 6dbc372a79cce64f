import { expect, inject, it } from "vitest";
import { AGENTS } from "./support/agents.ts";

const WANTED_LEAST = 2;

it("enough agents run here for the rest to mean something", () => {
  const missing = inject("notInstalled");
  const reasons = missing.map(({ name, reason }) => `${name}: ${reason}`).join("\n");
  const asked = AGENTS.length + missing.length;
  expect(AGENTS.length, reasons).toBeGreaterThanOrEqual(Math.min(WANTED_LEAST, asked));
});
