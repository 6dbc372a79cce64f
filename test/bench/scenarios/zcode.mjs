// What translating ZCode's events costs beside a bare parse of the same lines.
import { figuresOf } from "../lib/scripts.mjs";

export const zcode = {
  summary: "the translation of ZCode's events",
  defaults: { hourEvents: 216_000 },
  tiny: { hourEvents: 2000 },
  run: ({ hourEvents, node }) => figuresOf("zcode-translate-cost.mjs", [String(hourEvents)], node),
  budgets: ({ addedMedianUs, budgetMedianUs }) => [
    ["ZCode's translation: added µs per event", addedMedianUs, "max", budgetMedianUs],
  ],
  rows: ({ events, bareParse, translated, addedMedianUs }) => [
    { events, "parse µs": bareParse.medianUs, "translated µs": translated.medianUs, "added µs": addedMedianUs },
  ],
};
