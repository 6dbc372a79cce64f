import fc from "fast-check";
import { lexer } from "marked";
import { describe, expect, it } from "vitest";
import { BlockLexer } from "../../../src/web/markdown/lex.ts";
import { diffHunks } from "../../../src/web/transcript/diff-lines.ts";
import { hasHidden, splitVisible } from "../../../src/web/ui/visible-runs.ts";

const names = (text: string): string[] =>
  splitVisible(text).flatMap((run) => (run.kind === "hidden" ? [run.name] : []));

describe("visible text", () => {
  it.each([
    ["bidirectional override", "a\u202eb", ["RLO"]],
    ["bidirectional isolate", "a\u2066b\u2069", ["LRI", "PDI"]],
    ["zero width", "a\u200bb\u2060c\ufeff", ["ZWSP", "WJ", "BOM"]],
    ["control", "a\u0007\u001b[31m\r", ["BEL", "ESC", "CR"]],
    ["spaces that are none", "a\u00a0b\u2003c", ["NBSP", "U+2003"]],
    ["soft hyphen", "a\u00adb", ["SHY"]],
    ["line separator", "a\u2028b", ["LS"]],
    ["tag characters", "a\u{e0041}", ["U+E0041"]],
    ["Hangul filler", "a\u3164", ["U+3164"]],
  ])("shows %s by name", (_what, text, expected) => {
    expect(names(text)).toEqual(expected);
  });

  it.each(["plain text\n\twith tabs", "Grüße, 你好, שלום, नमस्ते", "👩‍💻 ❤️ 👍🏽"])("leaves %j alone", (text) => {
    expect(hasHidden(text)).toBe(false);
  });

  it("loses nothing that can be seen", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const seen = splitVisible(text).map((run) => (run.kind === "text" ? run.text : ""));
        expect(text.length).toBeGreaterThanOrEqual(seen.join("").length);
        expect(seen.every((part) => !hasHidden(part))).toBe(true);
      }),
    );
  });
});

describe("markdown lexer", () => {
  const texts = [
    "# Title\n\nSome *text* and `code`.\n\n- one\n- two\n\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n\nEnd.",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\nafter\n\n> quote\n> more\n\n1. x\n2. y\n   - z\n\n***\n",
    "half open\n\n```js\nlet x = 1;\n",
  ];

  it.each(texts)("grows to the tokens of the whole, whatever the pieces (%#)", (text) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 80 }), (sizes) => {
        const lex = new BlockLexer();
        let at = 0;
        for (const size of sizes) {
          at = Math.min(text.length, at + size);
          lex.lex(text.slice(0, at));
        }
        const types = (tokens: readonly { type: string; raw: string }[]) =>
          tokens.map((token) => [token.type, token.raw]);
        expect(types(lex.lex(text))).toEqual(types(lexer(text, { gfm: true })));
      }),
    );
  });

  it("keeps finished blocks as they are while the last one grows", () => {
    const lex = new BlockLexer();
    const [first] = lex.lex("one\n\ntwo");
    expect(lex.lex("one\n\ntwo more")[0]).toBe(first);
  });
});

describe("diff", () => {
  it("numbers lines, leaves unchanged ones out and marks words", () => {
    const before = `${Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n")}\nconst timeout = 1000;\nend\n`;
    const after = before.replace("1000", "5000");
    const [hunk] = diffHunks(before, after);
    expect(hunk?.skipped).toBe(17);
    expect(hunk?.lines.map((line) => line.kind)).toEqual(["same", "same", "same", "removed", "added", "same"]);
    const added = hunk?.lines.find((line) => line.kind === "added");
    expect(added?.words.filter((word) => word.isChanged).map((word) => word.text)).toEqual(["5000"]);
    expect([added?.oldNumber, added?.newNumber]).toEqual([undefined, 21]);
  });

  it("puts every line of both texts into the whole of its hunks", () => {
    const lines = fc
      .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 })
      .map((all) => all.map((line) => `${line}\n`).join(""));
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const shown = diffHunks(before, after).flatMap((hunk) => hunk.lines);
        const count = (kind: string): number => shown.filter((line) => line.kind === kind).length;
        const size = (text: string): number => text.split("\n").length - 1;
        expect(count("added") - count("removed")).toBe(size(after) - size(before));
      }),
    );
  });
});
