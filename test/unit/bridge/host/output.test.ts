import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { programOf } from "../../../../src/bridge/host/command.ts";
import { OutputFeed } from "../../../../src/bridge/host/output-feed.ts";
import { OutputRing, tailOf } from "../../../../src/bridge/host/output-ring.ts";

describe("the output a terminal keeps", () => {
  it("S7 is the end of what was printed, within its bound, cut between characters", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 40 })), fc.nat(100), (pieces, maxBytes) => {
        const ring = new OutputRing(maxBytes);
        for (const piece of pieces) ring.push(piece);
        const all = pieces.join("");
        const kept = ring.text;
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxBytes);
        expect(all.endsWith(kept)).toBe(true);
        expect(ring.isTruncated).toBe(kept.length < all.length);
        // Nothing more would have fitted.
        const rest = [...all.slice(0, all.length - kept.length)];
        const next = rest.at(-1);
        if (next !== undefined) expect(Buffer.byteLength(kept + next)).toBeGreaterThan(maxBytes);
      }),
    );
  });

  it("S7 stays within its bound over gigabytes", () => {
    const ring = new OutputRing(1000);
    const line = "x".repeat(999);
    for (let index = 0; index < 100_000; index += 1) ring.push(`${line}\n`);
    expect(ring.text).toBe(`${line}\n`);
    expect(ring.isTruncated).toBe(true);
  });

  it("S7 a tail of whole characters is what fits", () => {
    expect(tailOf("aé", 2)).toBe("é");
    expect(tailOf("aé", 1)).toBe("");
    expect(tailOf("😀b", 4)).toBe("b");
    expect(tailOf("😀b", 5)).toBe("😀b");
  });
});

describe("the output other clients are sent", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("S7 is gathered for a moment, and sent at once when something has to stand behind it", () => {
    const sent: string[] = [];
    const feed = new OutputFeed((text) => sent.push(text));
    feed.push("a");
    feed.push("b");
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(sent).toEqual(["ab"]);
    feed.push("c");
    feed.flush();
    expect(sent).toEqual(["ab", "c"]);
    vi.advanceTimersByTime(1000);
    expect(sent).toEqual(["ab", "c"]);
  });

  it("S7 is cut to its end when a command prints faster than anybody reads, and says how much is missing", () => {
    const sent: string[] = [];
    const feed = new OutputFeed((text) => sent.push(text));
    for (let index = 0; index < 100; index += 1) feed.push("x".repeat(10_000));
    vi.advanceTimersByTime(100);
    expect(sent).toEqual([`[${1_000_000 - 32_768} characters left out]\n${"x".repeat(32_768)}`]);
  });

  it("S7 nothing is sent after it is closed", () => {
    const sent: string[] = [];
    const feed = new OutputFeed((text) => sent.push(text));
    feed.push("a");
    feed.close();
    vi.advanceTimersByTime(1000);
    expect(sent).toEqual([]);
  });
});

describe("the program of a terminal", () => {
  it("S7 arguments make it a program, a shell line without them goes to the shell", () => {
    expect(programOf("git", ["log", "a b"])).toEqual({ file: "git", args: ["log", "a b"] });
    expect(programOf("a b", ["c"])).toEqual({ file: "a b", args: ["c"] });
    expect(programOf("git", [])).toEqual({ file: "git", args: [] });
    for (const line of ["npm test", "a && b", "echo $HOME", "ls *.ts", "FOO=1 make"])
      expect(programOf(line, undefined)).toEqual({ file: "/bin/sh", args: ["-c", line] });
  });
});
