import { describe, expect, it } from "vitest";
import type { Span } from "../../../src/web/markdown/span.ts";
import { type DiffColours, piecesOf, spansByLine } from "../../../src/web/transcript/diff-colours.ts";
import { diffHunks } from "../../../src/web/transcript/diff-lines.ts";

const BEFORE = "// why\nconst a = 1;\nconst b = `x\ny`;\n";
const AFTER = "// why\nconst a = 2;\nconst b = `x\ny`;\n";

/** As a highlighter gives them: one token may go over lines. */
const spans = (value: string): readonly Span[] => [
  { className: "hljs-comment", text: "// why" },
  { className: undefined, text: "\n" },
  { className: "hljs-keyword", text: "const" },
  { className: undefined, text: " a = " },
  { className: "hljs-number", text: value },
  { className: undefined, text: ";\n" },
  { className: "hljs-keyword", text: "const" },
  { className: undefined, text: " b = " },
  { className: "hljs-string", text: "`x\ny`" },
  { className: undefined, text: ";\n" },
];

const COLOURS: DiffColours = { before: spansByLine(spans("1")), after: spansByLine(spans("2")) };

const linesOf = (before: string, after: string) => diffHunks(before, after).flatMap((hunk) => hunk.lines);

describe("the colours of a diff", () => {
  it("are those of the language, on every line of what is one token, and the text is whole", () => {
    const lines = linesOf(BEFORE, AFTER);
    for (const line of lines)
      expect(
        piecesOf(line, COLOURS)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(line.words.map((word) => word.text).join(""));
    const classes = lines.map((line) => piecesOf(line, COLOURS).flatMap(({ className }) => className ?? []));
    expect(classes[0]).toEqual(["hljs-comment"]);
    expect(classes[1]).toContain("hljs-keyword");
    // The two lines of the template.
    expect(classes[3]).toContain("hljs-string");
    expect(classes[4]).toEqual(["hljs-string"]);
  });

  it("leave out a changed word: its mark is what is to be seen", () => {
    const changed = linesOf(BEFORE, AFTER).flatMap((line) =>
      piecesOf(line, COLOURS).filter((piece) => piece.isChanged),
    );
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.every(({ className }) => className === undefined)).toBe(true);
  });

  it("are left out where they are of another text", () => {
    const colours = { before: [], after: spansByLine([{ className: "hljs-keyword", text: "let y;\n" }]) };
    const [line] = linesOf(BEFORE, AFTER);
    expect(line && piecesOf(line, colours)).toEqual([{ text: "// why", isChanged: false, className: undefined }]);
  });
});
