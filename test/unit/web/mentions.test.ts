import { describe, expect, it } from "vitest";
import {
  type Mention,
  mentionAt,
  mentionOf,
  mentionsIn,
  promptBlocks,
  typedText,
  withMention,
} from "../../../src/web/composer/mentions.ts";

const file = (path: string): Mention => ({ path, name: path.split("/").at(-1) ?? "", uri: `file:///w/${path}` });
const POOL = file("src/pool.ts");
const POOL_TEST = file("src/pool.ts.snap");
const NONE = new Map<string, string>();

describe("the mention the caret stands in", () => {
  it.each([
    ["@", 1, { start: 0, query: "" }],
    ["look at @src/po", 15, { start: 8, query: "src/po" }],
    ["(@a", 3, { start: 1, query: "a" }],
    ["line\n@a", 7, { start: 5, query: "a" }],
    ["@abc def", 4, { start: 0, query: "abc" }],
  ])("%j at %i", (text, caret, open) => expect(mentionAt(text, caret)).toEqual(open));

  it.each([
    ["a@b.c", 5],
    ["@abc def", 8],
    ["no", 2],
    ["@a@b", 4],
  ])("none in %j at %i", (text, caret) => expect(mentionAt(text, caret)).toBeUndefined());

  it("gives way to the file that was chosen", () => {
    expect(withMention("see @po, then", { start: 4, query: "po" }, POOL)).toEqual({
      text: "see @src/pool.ts , then",
      caret: 17,
    });
    expect(withMention("see @po then", { start: 4, query: "po" }, POOL)).toEqual({
      text: "see @src/pool.ts then",
      caret: 17,
    });
  });
});

describe("a message with files in it", () => {
  it("keeps the order of words and files", () => {
    expect(promptBlocks("diff @src/pool.ts, @src/pool.ts.snap.", [POOL, POOL_TEST], NONE)).toEqual([
      { type: "text", text: "diff " },
      { type: "resource_link", uri: POOL.uri, name: POOL.path },
      { type: "text", text: ", " },
      { type: "resource_link", uri: POOL_TEST.uri, name: POOL_TEST.path },
      { type: "text", text: "." },
    ]);
  });

  it("takes along the text where it is known", () => {
    expect(promptBlocks("@src/pool.ts", [POOL], new Map([[POOL.path, "x"]]))).toEqual([
      { type: "resource", resource: { uri: POOL.uri, text: "x" } },
    ]);
  });

  it("means no file by a word that only begins like one, or stands in an address", () => {
    expect(mentionsIn("@src/pool.tsx a@src/pool.ts @src/pool.ts/x", [POOL])).toEqual([]);
    expect(mentionsIn("@src/pool.ts? and again @src/pool.ts", [POOL])).toEqual([POOL]);
    expect(promptBlocks("plain", [POOL], NONE)).toEqual([{ type: "text", text: "plain" }]);
  });

  it("is typed again as it was", () => {
    const text = "diff @src/pool.ts now";
    expect(typedText(promptBlocks(text, [POOL], NONE))).toEqual({ text, mentions: [POOL], images: [] });
  });

  it("gives images back as they were", () => {
    const image = { type: "image", mimeType: "image/png", data: "AAAA" };
    expect(typedText([image, { type: "text", text: "a" }])).toEqual({ text: "a", mentions: [], images: [image] });
  });

  it("reads what other clients send, whatever they call it", () => {
    expect(mentionOf({ type: "resource_link", uri: "file:///a/b%20c.ts" })).toMatchObject({
      path: "/a/b c.ts",
      name: "b c.ts",
    });
    expect(mentionOf({ type: "resource_link", uri: "file:///a/%zz" })?.path).toBe("file:///a/%zz");
    expect(mentionOf({ type: "resource_link", uri: "https://x.example/" })).toBeUndefined();
    expect(mentionOf({ type: "resource", resource: 7 })).toBeUndefined();
    expect(mentionOf({ type: "text", text: "a" })).toBeUndefined();
  });
});
