import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readTextWindow, type TextWindow, type WindowWanted } from "../../../../src/bridge/host/text-window.ts";

describe("a window of lines", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-window-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const read = async (content: string | Buffer, wanted: Partial<WindowWanted> = {}): Promise<TextWindow> => {
    const path = join(dir, "file");
    writeFileSync(path, content);
    const handle = await open(path);
    try {
      return await readTextWindow(handle, {
        line: 1,
        limit: undefined,
        maxBytes: 1_000_000,
        maxSkipBytes: 1_000_000,
        ...wanted,
      });
    } finally {
      await handle.close();
    }
  };
  const text = (value: string, hasMore: boolean): TextWindow => ({ kind: "text", text: value, hasMore });

  it("S7 C3.files gives whole lines with their own ends, and says whether more follow", async () => {
    expect(await read("a\nb\r\nc\n", { line: 2, limit: 1 })).toEqual(text("b\r\n", true));
    expect(await read("a\nb\nc\n", { line: 2, limit: 2 })).toEqual(text("b\nc\n", false));
    expect(await read("a\nb\nc", { line: 3, limit: 5 })).toEqual(text("c", false));
    expect(await read("a\nb\nc", { line: 1 })).toEqual(text("a\nb\nc", false));
    expect(await read("\u2028\n\u0085\n", { line: 1, limit: 1 })).toEqual(text("\u2028\n", true));
  });

  it("S7 C3.files a window just after the last line is empty, one further on is past the end", async () => {
    expect(await read("", { line: 1 })).toEqual(text("", false));
    expect(await read("a\n", { line: 2, limit: 4 })).toEqual(text("", false));
    expect(await read("a", { line: 2, limit: 4 })).toEqual(text("", false));
    expect(await read("a\n", { line: 3 })).toEqual({ kind: "past-end", lines: 1 });
    expect(await read("a\nb", { line: 4 })).toEqual({ kind: "past-end", lines: 2 });
    expect(await read("", { line: 2 })).toEqual({ kind: "past-end", lines: 0 });
  });

  it("S7 C3.files equals splitting the whole file, whatever the sizes are", async () => {
    const lines = Array.from({ length: 4000 }, (_, index) => `${index}${"é".repeat((index * 7) % 90)}\n`);
    for (const [line, limit] of [
      [1, 1],
      [1, 4000],
      [700, 900],
      [3999, 1],
      [4000, 10],
    ] as const) {
      const expected = lines.slice(line - 1, line - 1 + limit).join("");
      expect(await read(lines.join(""), { line, limit })).toEqual(text(expected, line - 1 + limit < 4000));
    }
  });

  it("S7 C3.files refuses what would cost more than its bounds", async () => {
    expect(await read("x".repeat(2001), { maxBytes: 2000 })).toEqual({ kind: "too-large" });
    expect(await read("x".repeat(2000), { maxBytes: 2000 })).toEqual(text("x".repeat(2000), false));
    expect(await read(`${"x".repeat(2000)}\ny`, { line: 2, maxSkipBytes: 2000 })).toEqual({ kind: "too-large" });
    expect(await read(`${"x".repeat(1999)}\ny`, { line: 2, maxSkipBytes: 2000 })).toEqual(text("y", false));
  });

  it("S7 C3.files replaces bytes that are no UTF-8", async () => {
    expect(await read(Buffer.from([0x61, 0xff, 0x0a]))).toEqual(text("a\ufffd\n", false));
  });
});
