import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findAll, foldCase, MATCHES_MAX } from "../../../src/web/transcript/find-text.ts";
import { lineAt, marksOf } from "../../../src/web/transcript/output-marks.ts";
import { outputText } from "../../../src/web/transcript/output-text.ts";
import { type Output, TerminalReader } from "../../../src/web/transcript/terminal-lines.ts";

const ESC = "\u001b";

const read = (raw: string): Output => new TerminalReader().read(raw);
const plain = (raw: string): string => read(raw).plain;
const runs = (raw: string) => read(raw).lines.flatMap((line) => line.runs);

/** What is painted, in full. */
const painted = ({ lines }: Output): string =>
  lines.map((line) => line.runs.map((run) => run.text).join("") + (line.isEnded ? "\n" : "")).join("");

describe("terminal output", () => {
  it("keeps colours as class names and others as values", () => {
    expect(
      runs(`${ESC}[31mred${ESC}[0m ${ESC}[38;2;200;220;240mown${ESC}[0m${ESC}[38;5;231mpalette${ESC}[1;4:3mmore`).map(
        (run) => [run.text, run.style?.className, run.style?.color],
      ),
    ).toEqual([
      ["red", "ansi-red-fg", undefined],
      [" ", undefined, undefined],
      ["own", undefined, "200, 220, 240"],
      ["palette", undefined, "255, 255, 255"],
      ["more", "ansi-bold ansi-underline", "255, 255, 255"],
    ]);
  });

  it("keeps a colour over the end of a line, and ends what is ended", () => {
    expect(runs(`${ESC}[32mone\ntwo${ESC}[39m three`).map((run) => [run.text, run.style?.className])).toEqual([
      ["one", "ansi-green-fg"],
      ["two", "ansi-green-fg"],
      [" three", undefined],
    ]);
  });

  it.each([
    ["black on nothing", "38;2;0;0;0", (color: string) => color !== "0, 0, 0"],
    ["white on white", "48;2;255;255;255;38;2;255;255;255", (color: string) => color === "0, 0, 0"],
    ["dark on dark", "48;2;10;10;10;38;2;20;20;20", (color: string) => color === "255, 255, 255"],
    ["what can be read", "48;2;0;0;0;38;2;250;200;0", (color: string) => color === "250, 200, 0"],
  ])("shows %s so that it can be read", (_what, codes, isReadable) => {
    expect(runs(`${ESC}[${codes}mx`)[0]?.style?.color).toSatisfy(isReadable);
  });

  it("hides nothing that is there, and reverses with colours of its own", () => {
    expect(runs(`${ESC}[8msecret`)).toEqual([{ text: "secret", style: undefined }]);
    expect(runs(`${ESC}[31;7mx`)[0]?.style?.className).toBe("ansi-reverse");
  });

  it.each([
    ["10%\r55%\r100%\nnext\r\n", "100%\nnext\n"],
    ["longer\rabc", "abcger"],
    [`${ESC}[32mabc${ESC}[0m\rlonger`, "longer"],
    [`longer\r${ESC}[Kabc`, "abc"],
    [`longer${ESC}[1G${ESC}[2Kab`, "ab"],
    ["abc\b\bX", "aXc"],
    [`abc${ESC}[1K`, "   "],
    ["😀a\rb", "ba"],
  ])("folds what was written over: %j", (raw, shown) => {
    expect(plain(raw)).toBe(shown);
  });

  it("keeps the colour of what stands there in the end", () => {
    expect(runs(`${ESC}[31mabc\r${ESC}[32mX`).map((run) => [run.text, run.style?.className])).toEqual([
      ["X", "ansi-green-fg"],
      ["bc", "ansi-red-fg"],
    ]);
  });

  it.each([
    ["a title", `${ESC}]0;title\u0007a`],
    ["the clipboard", `${ESC}]52;c;AAAA${ESC}\\a`],
    ["a link", `${ESC}]8;;https://x\u0007a${ESC}]8;;\u0007`],
    ["the cursor", `${ESC}[2J${ESC}[Ha${ESC}[3A`],
    ["modes and character sets", `${ESC}[?25l${ESC}[>4;1m${ESC}(Ba${ESC}=`],
    ["device strings", `${ESC}Pq#0;2;0${ESC}\\a${ESC}_x${ESC}\\`],
    ["other controls", "\u0000\u0007a\u009b"],
    ["what was cut off", `a${ESC}[38;2;1`],
  ])("drops %s", (_what, raw) => {
    expect(plain(raw)).toBe("a");
  });

  it("lets a sequence without an end hide no more than its line", () => {
    expect(plain(`a${ESC}]0;endless\nb`)).toBe("a\nb");
  });

  it("reads the same whatever the pieces it comes in, and anew when the front was cut", () => {
    const part = fc.constantFrom(
      "a",
      "bc",
      "\n",
      "\r",
      "\r\n",
      `${ESC}[31m`,
      `${ESC}[0m`,
      `${ESC}[K`,
      ESC,
      "😀",
      "x".repeat(700),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const reader = new TerminalReader();
        let raw = "";
        for (const piece of parts) {
          raw += piece;
          const output = reader.read(raw);
          expect(output).toEqual(read(raw));
          expect(painted(output)).toBe(output.plain);
        }
        expect(reader.read(raw.slice(3))).toEqual(read(raw.slice(3)));
      }),
    );
  });

  it("paints an endless line in pieces, none of which breaks a character", () => {
    const output = read(`${"😀".repeat(1000)}\nend`);
    expect(output.lines.length).toBeGreaterThan(3);
    // Throws where half a character stands.
    for (const line of output.lines) encodeURIComponent(line.runs.map((run) => run.text).join(""));
    expect(output.plain).toBe(`${"😀".repeat(1000)}\nend`);
  });
});

describe("finding in output", () => {
  it.each([
    ["Error", "error ERROR eRRor"],
    ["σας", "ΣΑΣ σας Σας"],
    ["i", "İıi"],
  ])("finds %j whatever the case, at its place", (query, text) => {
    const found = findAll(foldCase(text), foldCase(query));
    expect(found).toEqual(query === "i" ? [0, 2] : [0, query.length + 1, 2 * query.length + 2]);
  });

  it("folds without moving anything", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(foldCase(text).length).toBe(text.length);
      }),
    );
  });

  it("ends", () => {
    expect(findAll("aaaa", "")).toEqual([]);
    expect(findAll("aaaa", "aa")).toEqual([0, 2]);
    expect(findAll("a".repeat(MATCHES_MAX + 10), "a").length).toBe(MATCHES_MAX);
  });

  const OUTPUT = read(`zero\n${ESC}[31mon${ESC}[0me\n${"x".repeat(498)}LONG\nlast one`);
  const found = (query: string, current: number) => {
    const matches = findAll(foldCase(OUTPUT.plain), foldCase(query));
    return { matches, length: query.length, current };
  };

  it("marks places over colours and over the pieces of a long line", () => {
    const all = OUTPUT.lines.length;
    expect([...marksOf(OUTPUT, 0, all, found("one", 0))]).toEqual([
      [1, [{ from: 0, to: 3, isCurrent: true }]],
      [4, [{ from: 5, to: 8, isCurrent: false }]],
    ]);
    expect([...marksOf(OUTPUT, 0, all, found("long", 0))]).toEqual([
      [2, [{ from: 498, to: 502, isCurrent: true }]],
      [3, [{ from: 0, to: 2, isCurrent: true }]],
    ]);
  });

  it("marks only what is painted, and no more than a phone can bear", () => {
    expect([...marksOf(OUTPUT, 0, 1, found("one", 0)).keys()]).toEqual([]);
    expect([...marksOf(OUTPUT, 3, 4, found("long", 0)).keys()]).toEqual([3]);
    const many = read("a ".repeat(5000));
    const matches = findAll(many.plain, "a");
    const marks = marksOf(many, 0, many.lines.length, { matches, length: 1, current: 2500 });
    const count = [...marks.values()].reduce((sum, each) => sum + each.length, 0);
    expect(count).toBe(1000);
    expect([...marks.values()].flat().some((mark) => mark.isCurrent)).toBe(true);
  });

  it("knows the line of a place", () => {
    expect([0, 4, 5, 9, OUTPUT.plain.length - 1].map((at) => lineAt(OUTPUT, at))).toEqual([0, 0, 1, 2, 4]);
  });
});

describe("output in a tool's text", () => {
  it.each([
    ["plain of a command", "# not a heading\n  x", "execute", "# not a heading\n  x"],
    ["fenced", "```console\na\nb\n```\n", "execute", "a\nb"],
    ["fenced, still coming", "```sh\na", "execute", "a"],
    ["fenced and empty", "```console\n```", "execute", ""],
    ["coloured", `${ESC}[31mx`, "other", `${ESC}[31mx`],
    ["a longer fence around a fence", "````\n```\nx\n```\n````", "execute", "```\nx\n```"],
  ])("is %s", (_what, text, kind, output) => {
    expect(outputText(text, kind)).toBe(output);
  });

  it.each([
    ["prose of another tool", "A *word*", "fetch"],
    ["prose with a block in it", "It says:\n```\nx\n```", "execute"],
    ["two blocks", "```\na\n```\nand\n```\nb\n```", "execute"],
  ])("is not %s", (_what, text, kind) => {
    expect(outputText(text, kind)).toBeUndefined();
  });
});
