import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { type Part, REQUIREMENTS } from "./requirements.ts";

/** Every rule of these parts has to be cited by a test. Grows with the work. */
const ENFORCED_PARTS: readonly Part[] = [1];

const TITLE = /(?<![.\w])(?:test|it|describe)(?:\.\w+(?:\([^)]*\))?)*\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;
/** What looks like a rule id, known or not. */
const ID = /\b(?:[RIBXPSLT]\d{1,2}|[CD]\d\.[a-z][a-z-]*[a-z])\b/g;

function idsIn(source: string): string[] {
  return [...source.matchAll(TITLE)].flatMap((match) => match[2]?.match(ID) ?? []);
}

/** Rule id → the files that cite it in a title. */
async function citations(): Promise<Map<string, string[]>> {
  const cited = new Map<string, string[]>();
  for (const path of await readdir("test", { recursive: true })) {
    // This file quotes titles as examples.
    if (!/\.(?:test|suite)\.tsx?$/.test(path) || path.endsWith("coverage.test.ts")) continue;
    for (const id of idsIn(await readFile(`test/${path}`, "utf8"))) cited.set(id, [...(cited.get(id) ?? []), path]);
  }
  return cited;
}

test("the scan reads ids out of titles and out of nothing else", () => {
  const source = [
    "test('B2 a late client gets no replay', () => {});",
    'it.each([1, 2])("X10, S3 case %d", () => {});',
    "describe(`C2.carriers of a carrier`, () => {});",
    '/x/.test("R3");',
    "// R1 in a comment",
    'const id = "R2";',
  ].join("\n");
  expect(idsIn(source)).toEqual(["B2", "X10", "S3", "C2.carriers"]);
});

test("every rule id is listed once", () => {
  const ids = REQUIREMENTS.map((requirement) => requirement.id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test("no test cites a rule that does not exist", async () => {
  const known = new Set(REQUIREMENTS.map((requirement) => requirement.id));
  const unknown = [...(await citations())].filter(([id]) => !known.has(id));
  expect(unknown).toEqual([]);
});

test("every rule of the enforced parts is cited by a test", async () => {
  const cited = await citations();
  const due = REQUIREMENTS.filter((requirement) => ENFORCED_PARTS.includes(requirement.part));
  expect(due.length).toBeGreaterThan(0);
  expect(due.filter((requirement) => !cited.has(requirement.id)).map((requirement) => requirement.id)).toEqual([]);
});
