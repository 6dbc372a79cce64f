import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeCursor, encodeCursor } from "../../../src/store/cursor.ts";
import { indexQuery } from "../../../src/store/index-text.ts";
import { decodeBody, encodeItem } from "../../../src/store/journal-body.ts";
import type { JournalItem } from "../../../src/store/ports.ts";
import { queryWords, searchText } from "../../../src/store/search-text.ts";
import { parseSessionKey, sessionKey } from "../../../src/store/session-key.ts";
import { snippetOf } from "../../../src/store/snippet.ts";
import { chunk, toolCall } from "../../support/store-samples.ts";

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
    [...decodeBody(body, after, upTo)].map(({ item }) => item);

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
    for (const bad of ["{", '{"f":1,"l":2}', '{"f":1,"l":1,"m":[]}', "null", '{"f":1,"l":1,"m":{']) {
      expect(() => [...decodeBody(bad, 0, 9)], bad).toThrow(expect.objectContaining({ code: "damaged" }));
    }
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
