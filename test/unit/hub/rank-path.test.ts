import { describe, expect, it } from "vitest";
import { rankPath } from "../../../src/hub/http/rank-path.ts";

const ranked = (query: string, paths: readonly string[]): string[] =>
  paths
    .map((path) => ({ path, rank: rankPath(query, path) }))
    .filter((each): each is { path: string; rank: number } => each.rank !== undefined)
    .sort((a, b) => b.rank - a.rank)
    .map(({ path }) => path);

describe("how a path answers to what was typed", () => {
  it("the name itself, its beginning, a part of it, a part of the path, letters in order", () => {
    expect(
      ranked("pool", [
        "src/a/p-o-o-l.ts",
        "pool/x.ts",
        "src/worker-pool.ts",
        "src/pool.test.ts",
        "src/deep/down/pool",
        "README.md",
      ]),
    ).toEqual(["src/deep/down/pool", "src/pool.test.ts", "src/worker-pool.ts", "pool/x.ts", "src/a/p-o-o-l.ts"]);
  });

  it("letters at the beginnings of words go before letters anywhere", () => {
    expect(ranked("sf", ["src/hub/http/search-files.ts", "src/hub/http/stuff.ts"])[0]).toBe(
      "src/hub/http/search-files.ts",
    );
  });

  it("of two that fit as well the nearer one is first", () => {
    expect(ranked("index", ["a/b/c/index.ts", "index.ts", "a/index.ts"])).toEqual([
      "index.ts",
      "a/index.ts",
      "a/b/c/index.ts",
    ]);
  });

  it("a path with folders in the query is found by them", () => {
    expect(ranked("hub/po", ["src/hub/push/pool.ts", "src/web/pool.ts"])).toEqual(["src/hub/push/pool.ts"]);
    expect(ranked("hub/push", ["src/hub/push/pool.ts", "src/web/pool.ts"])).toEqual(["src/hub/push/pool.ts"]);
  });

  it("nothing typed ranks by nearness, and letters that are missing or in another order rank not at all", () => {
    expect(ranked("", ["a/b/c.ts", "z.ts"])).toEqual(["z.ts", "a/b/c.ts"]);
    expect(rankPath("loop", "pool.ts")).toBeUndefined();
    expect(rankPath("poolx", "pool.ts")).toBeUndefined();
    expect(rankPath("aa", "a.ts")).toBeUndefined();
  });
});
