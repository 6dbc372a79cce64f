import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { wordsOf } from "../../src/cli/completions/words.ts";
import { configTable } from "../support/config-table.ts";
import { commandsIn, type Shown, shown, texts } from "../support/shown-commands.ts";

const OPERATIONS = "docs/operations.md";

/** Names in prose, such as "acp-hub home", are no commands: those stand in code only by mistake. */
const at = (each: Shown): string => `${each.file}: ${each.text}`;

describe("the documentation", () => {
  it("the scan finds commands in code and nowhere else", () => {
    const text =
      "run `acp-hub logs -f`; acp-hub prose\n```sh\nacp-hub pair --scope viewer   # a link\nsource <(acp-hub completions zsh)\nacp-hub bridge -- x --y\n```\n";
    expect(commandsIn("a.md", text).map(({ words }) => words.join(" "))).toEqual([
      "pair --scope viewer",
      "completions zsh",
      "bridge",
      "logs -f",
    ]);
  });

  it("the scan reads the blocks of the shell, and no prose between blocks of other kinds", () => {
    const text = "```json\n{}\n```\nacp-hub prose\n```sh\nacp-hub ls --json\n```\n";
    expect(commandsIn("a.md", text).map(({ words }) => words.join(" "))).toEqual(["ls --json"]);
  });

  it("scripts of the package that are shown are there", async () => {
    const { scripts } = JSON.parse(await readFile("package.json", "utf8")) as { scripts: Record<string, string> };
    const named = [...(await texts())].flatMap(([file, text]) =>
      [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(test|start))\b/g)].map((match) => [file, match[1] ?? match[2] ?? ""]),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(([, name = ""]) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it("C1.daemon shows no command that does not exist", async () => {
    const all = await shown();
    expect(all.length).toBeGreaterThan(40);
    expect(all.filter(({ words }) => !COMMANDS.has(words[0] ?? "")).map(at)).toEqual([]);
  });

  it("C1.daemon shows no option its command's help does not have", async () => {
    const wrong: string[] = [];
    for (const each of await shown()) {
      const [name = "", ...rest] = each.words;
      const entry = COMMANDS.get(name);
      if (entry === undefined) continue;
      const { options } = wordsOf(name, entry.summary, (await entry.load()).command.usage);
      const used = rest.map((word) => word.replace(/^\[|\]$/g, "")).filter((word) => /^--?[a-z]/.test(word));
      if (used.some((option) => !options.includes(option))) wrong.push(at(each));
    }
    expect(wrong).toEqual([]);
  });

  it("C1.daemon every command is shown somewhere, and its help begins with its name", async () => {
    const mentioned = new Set((await shown()).map(({ words }) => words[0]));
    expect([...COMMANDS.keys()].filter((name) => !mentioned.has(name))).toEqual([]);
    for (const [name, entry] of COMMANDS)
      expect((await entry.load()).command.usage).toMatch(new RegExp(`^acp-hub ${name}\\b`));
  });

  it("C1.config the table of the configuration is today's schema", async () => {
    const text = await readFile(OPERATIONS, "utf8");
    const [head = "", rest = ""] = text.split(/(?<=<!-- generated: configuration .*-->\n)/);
    const tail = rest.slice(rest.indexOf("<!-- end -->"));
    const expected = `${head}${configTable()}\n${tail}`;
    if (process.env["UPDATE_DOCS"] !== undefined) await writeFile(OPERATIONS, expected);
    expect(await readFile(OPERATIONS, "utf8")).toBe(expected);
  });

  it("links lead to files that are there", async () => {
    const broken: string[] = [];
    for (const [file, text] of await texts())
      for (const [, target = ""] of text.matchAll(/\]\(((?!https?:|#)[^)#]+)(?:#[^)]*)?\)/g))
        if (!existsSync(join(dirname(file), target))) broken.push(`${file}: ${target}`);
    expect(broken).toEqual([]);
  });

  it("decisions have numbers of their own, one after the other, the same in name and heading", async () => {
    const files = (await readdir("docs/adr")).sort();
    const heads = await Promise.all(
      files.map(async (file) => (await readFile(`docs/adr/${file}`, "utf8")).split(".")[0]),
    );
    expect(files.map((file) => Number(file.slice(0, 4)))).toEqual(files.map((_, index) => index + 1));
    expect(heads).toEqual(files.map((_, index) => `# ${index + 1}`));
  });

  it("anchors lead to headings that are there", async () => {
    const all = await texts();
    const broken: string[] = [];
    for (const [file, text] of all)
      for (const [, target = "", anchor = ""] of text.matchAll(/\]\(((?!https?:)[^)#]*)#([^)]+)\)/g)) {
        const page = target === "" ? text : (all.get(join(dirname(file), target)) ?? "");
        const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map((match) => slug(match[1] ?? ""));
        if (!anchors.includes(anchor)) broken.push(`${file}: ${target}#${anchor}`);
      }
    expect(broken).toEqual([]);
  });
});

const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, "")
    .replaceAll(" ", "-");
