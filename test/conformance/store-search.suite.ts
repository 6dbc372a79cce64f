/** Search over sessions, the same for every store. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/store/ports.ts";
import { chunk, E1, E2, keyOf, session, toolCall } from "../support/store-samples.ts";
import type { MakeStore } from "./store.suite.ts";

export function storeSearchSuite(name: string, make: MakeStore): void {
  let store: Store;
  beforeEach(() => {
    store = make({ onError: (error) => expect.unreachable(error.message), onDurable: () => undefined });
  });
  afterEach(() => store.close());

  /** A session whose messages are `texts`, each a message of its own. */
  function talk(id: string, texts: readonly string[], updatedAt = 1_000): void {
    store.sessions.upsert(session(keyOf(id), { updatedAt }));
    store.journal.append(
      keyOf(id),
      E1,
      texts.map((text, index) => chunk(index + 1, text, { messageId: `m${index}` })),
    );
    store.journal.flush();
  }

  const find = (text: string): string[] => store.sessions.list({ text }).hits.map((hit) => hit.session.sessionId);

  describe(`${name}: search`, () => {
    test("C3.history words are found in messages, tool titles and session titles", () => {
      talk("message", ["The parser drops commas"]);
      store.sessions.upsert(session(keyOf("title"), { title: "Parser rewrite" }));
      store.sessions.upsert(session(keyOf("tool")));
      store.journal.append(keyOf("tool"), E1, [toolCall(1, "Edit src/parser.ts")]);
      talk("other", ["Nothing to see"]);
      expect(find("parser").sort()).toEqual(["message", "title", "tool"]);
      expect(find("PARSER commas")).toEqual(["message"]);
    });

    test("C3.history all words have to stand in one passage, and the last may be unfinished", () => {
      talk("both", ["alpha beta gamma"]);
      talk("near", ["alpha, asks one", "delta, says the other"]);
      talk("apart", [`alpha ${"x ".repeat(2_500)}`, "beta"]);
      expect(find("alpha beta")).toEqual(["both"]);
      expect(find("beta gam")).toEqual(["both"]);
      expect(find("alpha delta")).toEqual(["near"]);
    });

    test("C3.history a message streamed in pieces is one text", () => {
      store.sessions.upsert(session(keyOf("stream")));
      const pieces = ["The quick br", "own fox ju", "mps over"];
      store.journal.append(
        keyOf("stream"),
        E1,
        pieces.map((text, index) => chunk(index + 1, text)),
      );
      expect(find("brown jumps")).toEqual(["stream"]);
    });

    test("C3.history names with signs in them and scripts without spaces are found", () => {
      talk("snake", ["call parse_frame(text) first"]);
      talk("han", ["请修复解析器中的错误"]);
      talk("thai", ["แก้ไขข้อผิดพลาด"]);
      expect(find("parse_frame")).toEqual(["snake"]);
      expect(find("解析器")).toEqual(["han"]);
      expect(find("ผิดพลาด")).toEqual(["thai"]);
      expect(find("器析")).toEqual([]);
    });

    test("C3.history nothing a person types is an operator or an error", () => {
      talk("one", ["NOT a NEAR miss OR so"]);
      const odd = [
        '"',
        "*",
        "a OR",
        "NEAR(",
        "col:x",
        "^",
        "(",
        "-- ;",
        "'",
        "\u0000",
        "AND AND",
        '"unclosed',
        "{}[]",
        "𝒳",
      ];
      for (const text of odd) expect(() => find(text), text).not.toThrow();
      expect(find("NOT near miss")).toEqual(["one"]);
      expect(find("***")).toEqual([]);
    });

    test("C3.history a snippet shows the words where they stand and names the place", () => {
      talk("long", ["before", `${"lead ".repeat(60)}the needle, here${" tail".repeat(60)}`, "after"]);
      const snippet = store.sessions.list({ text: "needle" }).hits[0]?.snippet;
      expect(snippet).toMatchObject({ epoch: E1, seq: 2 });
      const [from, to] = snippet?.marks[0] ?? [0, 0];
      expect(snippet?.text.slice(from, to)).toBe("needle");
      expect(snippet?.text.length).toBeLessThan(230);
      expect(snippet?.text.startsWith("…") && snippet.text.endsWith("…")).toBe(true);
    });

    test("C3.history thoughts are no part of the search", () => {
      store.sessions.upsert(session(keyOf("thought")));
      store.journal.append(keyOf("thought"), E1, [chunk(1, "secretly pondering", { kind: "agent_thought_chunk" })]);
      expect(find("pondering")).toEqual([]);
    });

    test("C3.history pages of a search give every session once, the newest match first", () => {
      for (let n = 1; n <= 25; n++) talk(`s${n}`, ["common word", "more common word"], n);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = store.sessions.list({ text: "common", limit: 10, ...(cursor !== undefined && { cursor }) });
        seen.push(...page.hits.map((hit) => hit.session.sessionId));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `s${25 - index}`));
    });

    test("C3.history other filters hold for a search too", () => {
      talk("shown", ["shared words"]);
      store.sessions.upsert(session(keyOf("hidden"), { isListed: false }));
      store.journal.append(keyOf("hidden"), E1, [chunk(1, "shared words")]);
      store.sessions.upsert(session(keyOf("elsewhere", "/other")));
      store.journal.append(keyOf("elsewhere", "/other"), E1, [chunk(1, "shared words")]);
      expect(find("shared").sort()).toEqual(["elsewhere", "shown"]);
      const inside = store.sessions.list({ text: "shared", workspace: "/other" }).hits;
      expect(inside.map((hit) => hit.session.sessionId)).toEqual(["elsewhere"]);
    });

    test("C3.history a search in one directory finds what is there, however few or many sessions that are", () => {
      const inside = (cwd: string, limit = 200): number => {
        return store.sessions.list({ text: "shared", workspace: cwd, limit }).hits.length;
      };
      const add = (cwd: string, count: number): void => {
        for (let n = 1; n <= count; n++) {
          store.sessions.upsert(
            session(keyOf(`s${n}`, cwd), { title: "shared title", state: n === 1 ? "idle" : "closed" }),
          );
          store.journal.append(keyOf(`s${n}`, cwd), E1, [chunk(1, "shared words")]);
        }
      };
      add("/few", 3);
      add("/many", 230);
      expect([inside("/few"), inside("/many"), inside("/none")]).toEqual([3, 200, 0]);
      expect(store.sessions.list({ text: "shared", state: "live" }).hits.map((hit) => hit.session.cwd)).toHaveLength(2);
      const first = store.sessions.list({ text: "shared", workspace: "/few", limit: 2 });
      const cursor = first.nextCursor;
      const rest = store.sessions.list({
        text: "shared",
        workspace: "/few",
        limit: 2,
        ...(cursor !== undefined && { cursor }),
      });
      const ids = [...first.hits, ...rest.hits].map((hit) => hit.session.sessionId);
      expect(ids.sort()).toEqual(["s1", "s2", "s3"]);
    });

    test("C3.history a new title replaces the old one, and removed text is not found", () => {
      store.sessions.upsert(session(keyOf("t"), { title: "First name" }));
      expect(find("first")).toEqual(["t"]);
      store.sessions.upsert(session(keyOf("t"), { title: "Second name" }));
      expect(find("first")).toEqual([]);
      expect(find("second")).toEqual(["t"]);
      store.journal.append(keyOf("t"), E2, [chunk(1, "ephemeral")]);
      expect(find("ephemeral")).toEqual(["t"]);
      store.journal.remove(keyOf("t"));
      expect(find("ephemeral")).toEqual([]);
      expect(find("second")).toEqual(["t"]);
    });
  });
}
