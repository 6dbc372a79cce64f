import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { wordsOf } from "../../../src/cli/completions/words.ts";
import { runCommand } from "../../support/run-command.ts";

let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "acp-hub-completions-"));
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout, code } = await runCommand("completions", [shell]);
    expect(code).toBe(0);
    writeFileSync(join(dir, shell), stdout);
  }
});
afterAll(() => rmSync(dir, { recursive: true }));

const run = (shell: string, script: string): string[] =>
  execFileSync(shell, [...(shell === "fish" ? ["--no-config"] : shell === "zsh" ? ["-f"] : ["--norc"]), "-c", script], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: dir, TERM: "dumb" },
  })
    .split("\n")
    .map((line) => line.split("\t")[0]?.trim() ?? "")
    .filter((line) => line !== "");

/** What each shell offers after these words, the last of which is being typed. */
const OFFERS: Record<string, (words: readonly string[]) => string[]> = {
  bash: (words) => {
    const list = words.map((word) => `'${word}'`).join(" ");
    return run(
      "bash",
      `source ${dir}/bash; COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _acp_hub; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
  },
  zsh: (words) => {
    // zsh itself matches what is typed; its two builtins are only there while it completes.
    const stubs = `compadd() { shift; print -l -- "$@" }; _describe() { print -l -- "\${(@)\${(P)2}%%:*}" }; _files() { : }; compdef() { : }`;
    const list = words.map((word) => `'${word}'`).join(" ");
    const all = run("zsh", `${stubs}; source ${dir}/zsh; words=(${list}); CURRENT=${words.length}; _acp_hub`);
    return all.filter((word) => word.startsWith(words.at(-1) ?? ""));
  },
  fish: (words) => run("fish", `source ${dir}/fish; complete -C '${words.join(" ")}'`),
};

describe.each(["bash", "zsh", "fish"])("completions of %s", (shell) => {
  const offers = OFFERS[shell] ?? (() => []);

  it("offer every command of the table", () => {
    expect(offers(["acp-hub", ""])).toEqual(expect.arrayContaining([...COMMANDS.keys()]));
    expect(offers(["acp-hub", "disc"])).toEqual(["discover"]);
  });

  it("offer verbs after their command, options later, and the values an option takes", () => {
    expect(offers(["acp-hub", "service", "un"])).toEqual(["uninstall"]);
    expect(offers(["acp-hub", "service", "install", "--ho"])).toEqual(["--home"]);
    expect(offers(["acp-hub", "pair", "--scope", "dr"])).toEqual(["driver"]);
    expect(offers(["acp-hub", "logs", "--js"])).toEqual(["--json"]);
  });
});

/** Given by bridges to the hub they start, not by people. */
const NOT_FOR_PEOPLE = ["--on-demand"];

describe("completions", () => {
  it("C1.daemon every flag a command reads is in its usage, which is what help and completions show", async () => {
    const hidden: string[] = [];
    let flags = 0;
    for (const [name, entry] of COMMANDS) {
      const { options } = wordsOf(name, entry.summary, (await entry.load()).command.usage);
      const source = readFileSync(`src/cli/${name}.ts`, "utf8");
      for (const [, flag = "", rest = ""] of source.matchAll(/"?([a-z-]+)"?: \{ type: "(?:boolean|string)"([^}]*)/g)) {
        const short = /short: "(\w)"/.exec(rest)?.[1];
        const given = [`--${flag}`, ...(short === undefined ? [] : [`-${short}`])];
        flags += given.length;
        hidden.push(...given.filter((each) => !options.includes(each)).map((each) => `${name} ${each}`));
      }
    }
    expect(flags).toBeGreaterThan(60);
    expect(hidden).toEqual(NOT_FOR_PEOPLE.map((flag) => `serve ${flag}`));
  });

  it("leave what follows -- to the agent", () => {
    expect(OFFERS["bash"]?.(["acp-hub", "bridge", "--", "--n"])).toEqual([]);
    expect(OFFERS["zsh"]?.(["acp-hub", "bridge", "--", "--n"])).toEqual([]);
  });

  it("C1.exit-codes another shell is a usage error", async () => {
    expect((await runCommand("completions", ["tcsh"])).code).toBe(2);
  });
});
