import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const doc = readFileSync("docs/security.md", "utf8");

test("C2.scopes every threat of docs/security.md is held by a test that stands where it says", () => {
  const threats = doc.slice(doc.indexOf("## Threats"), doc.indexOf("## Not held"));
  const rows = threats.split("\n").filter((line) => /^\| (?!threat|---)/.test(line));
  expect(rows.length).toBeGreaterThan(15);
  for (const row of rows) {
    const [, path = "", title = ""] = /\| `([^`]+)` "([^"]+)" \|$/.exec(row) ?? [];
    expect(existsSync(path), row).toBe(true);
    expect(readFileSync(path, "utf8"), `${path}: ${title}`).toContain(title);
  }
});

test("C2.scopes what docs/security.md links to is there", () => {
  for (const [, link = ""] of doc.matchAll(/\]\((?!https?:)([^)#]+)/g))
    expect(existsSync(`docs/${link}`), link).toBe(true);
});
