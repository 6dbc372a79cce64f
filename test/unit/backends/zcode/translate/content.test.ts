/** Prompt blocks, titles, commands, and what a tool call looks like. */
import { expect, test } from "vitest";
import { availableCommands, neutralised } from "../../../../../src/backends/zcode/commands.ts";
import { goalParams } from "../../../../../src/backends/zcode/extensions.ts";
import { promptContent, titleOf } from "../../../../../src/backends/zcode/translate/content.ts";
import { fenced } from "../../../../../src/backends/zcode/translate/event.ts";
import { toolLocations, toolTitle } from "../../../../../src/backends/zcode/translate/tool-look.ts";

test("every kind of block has its place in the text or the attachments", () => {
  const content = promptContent([
    { type: "text", text: "look at" },
    { type: "resource_link", name: "a b.ts", uri: "file:///home/me/a%20b.ts" },
    { type: "resource", resource: { uri: "file:///n.md", text: "note" } },
    { type: "resource", resource: { uri: "file:///x.bin", blob: "AAAA" } },
    { type: "image", mimeType: "image/png", data: "aGk=" },
    { type: "image", mimeType: "image/jpeg", uri: "file:///p/q.jpg", data: "" },
    { type: "hologram" },
  ]);
  expect(content.text).toBe(
    "look at\n[related resource: a b.ts](/home/me/a b.ts)\n[related resource: n.md](/n.md)\nnote\n[related resource: x.bin](/x.bin)",
  );
  expect(content.attachments).toEqual([
    { kind: "image", filename: "image-1.png", mimeType: "image/png", dataBase64: "aGk=", sizeBytes: 2 },
    { kind: "image", filename: "q.jpg", mimeType: "image/jpeg", localPath: "/p/q.jpg" },
  ]);
});

test("a title is the first line that says something, cut at 80", () => {
  expect(titleOf("\n \n  fix it \nnow")).toBe("fix it");
  expect(titleOf("x".repeat(100))).toHaveLength(80);
  expect(titleOf(" \n ")).toBeUndefined();
});

test("row 39 only commands the backend knows keep their slash", () => {
  expect(neutralised("/review x", [{ name: "review" }])).toBe("/review x");
  expect(neutralised("/init", [])).toBe("/init");
  expect(neutralised("/etc/passwd?", [])).toBe("\u200b/etc/passwd?");
  expect(neutralised("say /review", [])).toBe("say /review");
});

test("commands the build lacks are not advertised, and none is listed twice", () => {
  const names = availableCommands([{ name: "review" }, { name: "compact" }], new Set(["steer"])).map(
    (command) => command["name"],
  );
  expect(names).toContain("review");
  expect(names).not.toContain("steer");
  expect(names.filter((name) => name === "compact")).toHaveLength(1);
});

test("the goal command has a long and a short form", () => {
  expect(goalParams("")).toEqual({ action: "show" });
  expect(goalParams("pause")).toEqual({ action: "pause" });
  expect(goalParams("set ship it")).toEqual({ action: "set", objective: "ship it" });
  expect(goalParams("ship it")).toEqual({ action: "set", objective: "ship it" });
});

test("titles: the command whole, other summaries cut, compact JSON as the last resort", () => {
  const command = `echo ${"x".repeat(200)}`;
  expect(toolTitle("Bash", { command })).toBe(`Bash: ${command}`);
  expect(toolTitle("Agent", { prompt: "y".repeat(100) })).toHaveLength("Agent: ".length + 60);
  expect(toolTitle("Odd", { n: 1 })).toBe('Odd: {"n":1}');
  expect(toolTitle("Odd", {})).toBe("Odd");
  expect(toolTitle("constructor", undefined)).toBe("constructor");
});

test("locations: lines for reads, files for edits, folders for searches", () => {
  expect(toolLocations("Read", { file_path: "/a", offset: 7 })).toEqual([{ path: "/a", line: 7 }]);
  expect(toolLocations("Write", { file_path: "/a" })).toEqual([{ path: "/a" }]);
  expect(toolLocations("Grep", { path: "/src" })).toEqual([{ path: "/src" }]);
  expect(toolLocations("Bash", { command: "ls" })).toBeUndefined();
});

test("a fence is longer than any inside it", () => {
  expect(fenced("a\n```\nb", "console")).toBe("````console\na\n```\nb\n````");
});
