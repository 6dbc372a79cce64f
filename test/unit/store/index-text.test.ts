import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { indexDocument, indexQuery, indexText } from "../../../src/store/index-text.ts";

const wordsOf = (text: string): string[] => indexText(text).split(/\s+/);

describe("text as the index knows it", () => {
  test("plain text is given as it is, and names with signs once more as pairs of neighbours", () => {
    expect(indexText("The parser drops commas, sometimes.")).toBe("The parser drops commas, sometimes.");
    expect(indexText("see src/a.ts now")).toBe("see src/a.ts now src·a a·ts");
    expect(indexText("trailing_ _leading a - b")).toBe("trailing_ _leading a - b");
  });

  test("case and accents are one letter, and scripts without spaces are cut sign by sign", () => {
    expect(indexText("Café—Über")).toBe("cafe uber cafe·uber");
    expect(indexText("修复 解析")).toBe("修 复 解 析 修·复 解·析");
    expect(wordsOf("한국어")).toEqual(["한", "국", "어", "한·국", "국·어"]);
    expect(wordsOf("ガラス")).toEqual(["ガ", "ラ", "ス", "ガ·ラ", "ラ·ス"]);
  });

  test("data in one long word is not written twice, nor looked at again and again", () => {
    const data = "x".repeat(2_000_000);
    expect(indexText(data)).toBe(data);
    expect(indexText(`${data}+${data}`)).toBe(`${data}+${data}`);
    const signs = "=".repeat(2_000_000);
    expect(indexText(`a${signs}`)).toBe(`a${signs}`);
  });

  test("both ways to cut plain text give the same pairs", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "B", "7", "_", ".", " ", "\n") }), (text) => {
        const plain = new Set(
          indexText(text)
            .toLowerCase()
            .match(/\w+·\w+/g) ?? [],
        );
        // The accent at the end sends the same text the other way.
        const other = new Set(indexText(`${text} é`).match(/\w+·\w+/g) ?? []);
        expect(plain).toEqual(other);
      }),
    );
  });

  test("a document says whose it is in a word no query can say", () => {
    expect(indexDocument("a talk", 7)).toBe("a talk ·7");
    for (const word of ["·7", "7", "a·7"]) expect(indexQuery([word])).not.toContain('"·7"');
  });

  test("a query names a name as a whole, and only words of some length may go on", () => {
    expect(indexQuery(["parse_frame"])).toBe('"parse·frame"*');
    expect(indexQuery(["src/a.ts", "x"])).toBe('"src·a" AND "a·ts" AND "x"');
    expect(indexQuery(["解析器"])).toBe('"解·析" AND "析·器"*');
    expect(indexQuery(["Pars"])).toBe('"pars"*');
    expect(indexQuery(["ab"])).toBe('"ab"');
    expect(indexQuery(["parser"], [7, 12])).toBe('"parser"* AND ("·7" OR "·12")');
    const data = "x".repeat(100);
    expect(indexQuery([`${data}+b`])).toBe(`"${data}" AND "b"*`);
  });
});
