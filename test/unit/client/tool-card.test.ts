import { describe, expect, it } from "vitest";
import { mergeCard } from "../../../src/client/transcript/tool-card.ts";
import { type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";

const piece = (data: string, terminal_id = "1"): JsonObject => ({ _meta: { terminal_output: { terminal_id, data } } });
const output = (card: JsonObject) => objectAt(objectAt(card, "_meta"), "terminal_output");
const length = (card: JsonObject): number => stringAt(output(card), "data")?.length ?? 0;

describe("a card's terminal output", () => {
  it("adds up, and begins anew with another terminal", () => {
    const card = mergeCard(mergeCard({}, piece("a\n")), piece("b\n"));
    expect(output(card)).toEqual({ terminal_id: "1", data: "a\nb\n" });
    expect(output(mergeCard(card, piece("c", "2")))).toEqual({ terminal_id: "2", data: "c" });
  });

  it("is cut from the front at the end of a line, seldom, and says so", () => {
    const line = `${"x".repeat(99)}\n`;
    const chunk = piece(line.repeat(1000));
    let card: JsonObject = {};
    let cuts = 0;
    for (let count = 0; count < 40; count += 1) {
      const before = length(card);
      card = mergeCard(card, chunk);
      if (length(card) < before) cuts += 1;
      expect(length(card)).toBeLessThanOrEqual(1024 * 1024);
    }
    expect(cuts).toBeLessThan(15);
    expect(length(card)).toBeGreaterThan(700_000);
    expect(output(card)?.["isCut"]).toBe(true);
    expect(stringAt(output(card), "data")?.startsWith("x".repeat(99))).toBe(true);
  });

  it("keeps its bound where there are no lines", () => {
    const card = mergeCard(mergeCard({}, piece("a".repeat(1_000_000))), piece("b".repeat(1_000_000)));
    expect(length(card)).toBeLessThanOrEqual(1024 * 1024);
    expect(length(card)).toBeGreaterThan(700_000);
  });
});
