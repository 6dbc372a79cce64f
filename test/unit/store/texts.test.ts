import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { joinRule } from "../../../src/store/core-items.ts";
import { decodeCursor, encodeCursor } from "../../../src/store/cursor.ts";
import { EpochBuffer } from "../../../src/store/epoch-buffer.ts";
import { indexQuery } from "../../../src/store/index-text.ts";
import { decodeBody, encodeItem } from "../../../src/store/journal-body.ts";
import type { JournalItem } from "../../../src/store/ports.ts";
import { queryWords, searchText } from "../../../src/store/search-text.ts";
import { parseSessionKey, sessionKey } from "../../../src/store/session-key.ts";
import { snippetOf } from "../../../src/store/snippet.ts";
import { chunk, E1, keyOf, toolCall } from "../../support/store-samples.ts";

describe("session keys", () => {
  test("S9 a key is different for every agent, directory and id, and reads back", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (agent, cwd, sessionId) => {
        expect(parseSessionKey(sessionKey({ agent, cwd, sessionId }))).toEqual({ agent, cwd, sessionId });
      }),
    );
    expect(sessionKey({ agent: "a", cwd: "b", sessionId: "c" })).not.toBe(
      sessionKey({ agent: "a", cwd: "", sessionId: "bc" }),
    );
  });

  test("what is no key reads as none", () => {
    for (const text of ["", "x", "[]", "{}", '["a","b"]', '["a","b",3]', '["a","b","c","d"]', "null"]) {
      expect(parseSessionKey(text), text).toBeUndefined();
    }
  });
});

describe("cursors", () => {
  test("numbers come back as they went, and anything else reads as none", () => {
    expect(decodeCursor(encodeCursor([12, 0, 1_700_000_000_000]), 3)).toEqual([12, 0, 1_700_000_000_000]);
    expect(decodeCursor(encodeCursor([12]), 2)).toBeUndefined();
    expect(decodeCursor(undefined, 1)).toBeUndefined();
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        const numbers = decodeCursor(text, 2);
        expect(numbers === undefined || numbers.every(Number.isSafeInteger)).toBe(true);
      }),
    );
  });
});

describe("journal bodies", () => {
  const items: JournalItem[] = [
    chunk(1, 'line\nbreak "quoted" \u2028'),
    toolCall(2, "two"),
    { first: 3, last: 7, pieces: [1, 1, 1, 1, 1], message: { m: "abcde" } },
    toolCall(9, "nine"),
  ];
  const body = items.map(encodeItem).join("\n");
  const read = (after: number, upTo: number): readonly JournalItem[] =>
    [...decodeBody(body, { from: after + 1, upTo }, joinRule)].map(({ item }) => item);

  test("items survive, whatever their text holds", () => {
    expect(read(0, 99)).toEqual(items);
  });

  test("a range gives every item it touches and no other", () => {
    expect(read(1, 2)).toEqual([items[1]]);
    expect(read(4, 5)).toEqual([items[2]]);
    expect(read(7, 8)).toEqual([]);
    expect(read(9, 99)).toEqual([]);
  });

  test("a line that was damaged is said to be, never guessed", () => {
    const cut = '{"f":1,"l":1,"t":5,"n":[5],"m":{}}\nfour';
    for (const bad of ["{", '{"f":1,"l":2}', '{"f":1,"l":1,"m":[]}', "null", '{"f":1,"l":1,"m":{', cut]) {
      const all = { from: 0, upTo: 9 };
      expect(() => [...decodeBody(bad, all, joinRule)], bad).toThrow(expect.objectContaining({ code: "damaged" }));
    }
  });

  /** Texts that could be taken for lines, that end in the middle of a character, that a driver may cut. */
  const anyText = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("\n", '\n{"f":1,"l":9,"m":{}}', "\ud83d", "\ude00", "\0", "\ufeff", "\u2028", "\r\n", ""),
  );
  const anyItem = fc.record({ text: anyText, isTool: fc.boolean(), message: fc.constantFrom("m1", "m2") });

  test("S3 rows give back what was put in, whatever the text, and any range of it", () => {
    fc.assert(
      fc.property(fc.array(anyItem, { minLength: 1, maxLength: 20 }), fc.nat(20), fc.nat(20), (made, a, b) => {
        const buffer = new EpochBuffer({ key: keyOf("a"), epoch: E1, join: joinRule }, undefined, 0);
        for (const [at, { text, isTool, message }] of made.entries())
          buffer.push(isTool ? toolCall(at + 1, text) : chunk(at + 1, text, { messageId: message }));
        const wanted = buffer.entries.map((entry) => buffer.itemOf(entry));
        const rows = buffer.rows(64);
        // As a disk gives it back.
        const bodies = rows.map((row) => Buffer.from(row.body).toString("utf8"));
        const [from, upTo] = [Math.min(a, b), Math.max(a, b)];
        const read = (range: { from: number; upTo: number }): readonly JournalItem[] =>
          bodies.flatMap((each) => [...decodeBody(each, range, joinRule)].map(({ item }) => item));
        expect(read({ from: 0, upTo: 99 })).toEqual(wanted);
        expect(read({ from, upTo })).toEqual(wanted.filter(({ first, last }) => last >= from && first <= upTo));
      }),
    );
  });

  test("joined text stands as it is behind its line; what UTF-8 or a driver would lose stands in it as JSON", () => {
    const bodyOf = (text: string): string | undefined => {
      const buffer = new EpochBuffer({ key: keyOf("a"), epoch: E1, join: joinRule }, undefined, 0);
      buffer.push(chunk(1, text));
      return buffer.rows()[0]?.body;
    };
    expect(bodyOf('say "hi"\n')).toMatch(/"text":"".*\nsay "hi"\n$/s);
    expect(bodyOf("half \ud83d")).toMatch(/"half \\ud83d".*\}$/);
    expect(bodyOf("nul \0")).toMatch(/"nul \\u0000".*\}$/);
  });
});

describe("what is searched", () => {
  test("messages and tool titles are, thoughts, plans and junk are not", () => {
    expect(searchText(chunk(1, "hi"))?.text).toBe("hi");
    expect(searchText(toolCall(1, "Read x"))?.text).toBe("Read x");
    expect(searchText(chunk(1, "hm", { kind: "agent_thought_chunk" }))).toBeUndefined();
    expect(
      searchText({ first: 1, last: 1, message: { params: { update: { sessionUpdate: "plan" } } } }),
    ).toBeUndefined();
    for (const message of [
      {},
      { params: null },
      { params: { update: 3 } },
      { update: { sessionUpdate: "tool_call" } },
    ]) {
      expect(searchText({ first: 1, last: 1, message })).toBeUndefined();
    }
  });

  test("a query is quoted word by word, bounded, and only words of some length are completed", () => {
    expect(indexQuery(queryWords('say "hi" NOT x*'))).toBe('"say" AND "hi" AND "not" AND "x"');
    expect(indexQuery(queryWords("pars"))).toBe('"pars"*');
    expect(queryWords('- * " ( )')).toEqual([]);
    expect(queryWords("w ".repeat(1_000))).toHaveLength(16);
  });
});

describe("snippets", () => {
  test("marks lie on the words, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.nat(400), (noise, at) => {
        const text = `${noise.slice(0, at)} NeedLe ${noise.slice(at)}`;
        const snippet = snippetOf(text, ["needle"]);
        const [mark] = snippet.marks;
        expect(snippet.text.slice(...(mark ?? [0, 0])).toLowerCase()).toBe("needle");
        expect(/\p{Surrogate}/u.test(snippet.text)).toBe(/\p{Surrogate}/u.test(text));
      }),
    );
  });

  test("marks do not overlap and a text without the word starts at its start", () => {
    const { marks } = snippetOf("aaaa", ["aa", "aaa"]);
    for (const [index, mark] of marks.entries()) expect(mark[0]).toBeGreaterThanOrEqual(marks[index - 1]?.[1] ?? 0);
    expect(snippetOf("plain text", ["other"])).toEqual({ text: "plain text", marks: [] });
  });
});
