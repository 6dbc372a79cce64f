/** Every incident of the survey this project was built against is named by a test: "incident 7: …", "incidents 4 and 5: …". */
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const LAST = 28;
const TITLE = /(?<![.\w])(?:test|it|describe)(?:\.\w+)*\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;
const EACH_TITLE = /^\s*"((?:\\.|[^"\\])*incident(?:\\.|[^"\\])*)",$/gm;
const NUMBERS = /\bincidents? (\d+(?:(?:, | and )\d+)*)/g;

function incidentsIn(source: string): number[] {
  const titles = [...source.matchAll(TITLE)].map((match) => match[2] ?? "");
  const each = [...source.matchAll(EACH_TITLE)].map((match) => match[1] ?? "");
  return [...titles, ...each].flatMap((title) =>
    [...title.matchAll(NUMBERS)].flatMap((match) => (match[1] ?? "").split(/, | and /).map(Number)),
  );
}

test("the scan reads numbers out of titles and out of nothing else", () => {
  const source = [
    'test("C2.x, incidents 7, 12 and 15: a cookie", () => {});',
    'it("incident 3: a secret", () => {});',
    "// incident 9",
    'const words = "incident 10";',
  ].join("\n");
  expect(incidentsIn(source)).toEqual([7, 12, 15, 3]);
});

test("every incident from 1 to 28 is named by a test, and no other", async () => {
  const named = new Set<number>();
  for (const path of await readdir("test", { recursive: true })) {
    if (!/\.(?:test|suite)\.tsx?$/.test(path) || path.endsWith("security/coverage.test.ts")) continue;
    for (const number of incidentsIn(await readFile(`test/${path}`, "utf8"))) named.add(number);
  }
  const all = Array.from({ length: LAST }, (_, index) => index + 1);
  expect([...named].sort((a, b) => a - b)).toEqual(all);
});
