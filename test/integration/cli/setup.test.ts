import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "jsonc-parser";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentEntry } from "../../../src/cli/setup/agent-entry.ts";
import { EDITORS } from "../../../src/cli/setup/editors.ts";
import { SettingsError } from "../../../src/cli/setup/jsonc-insert.ts";
import { applyEntry, backupOf, type PatchTarget, undoEntries } from "../../../src/cli/setup/patch-file.ts";
import { runCommand } from "../../support/run-command.ts";

const FIXTURES = "test/fixtures/setup";
const entry = agentEntry({
  node: "/usr/bin/node",
  script: "/opt/acp-hub/main.js",
  home: undefined,
  name: undefined,
  agent: { profile: "demo" },
});
const value = EDITORS.get("zed")?.settings?.value(entry) ?? null;

let root: string;
let target: PatchTarget;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acp-hub-setup-"));
  target = {
    file: join(root, "config/zed/settings.json"),
    member: "agent_servers",
    recordFile: join(root, "data/setup/zed.json"),
  };
});
afterEach(() => rmSync(root, { recursive: true }));

const place = (text: string | Buffer, mode = 0o600): void => {
  mkdirSync(dirname(target.file), { recursive: true });
  writeFileSync(target.file, text, { mode });
};
const fixture = (name: string, part: "before" | "after"): Buffer | undefined => {
  const file = join(FIXTURES, name, `${part}.json`);
  return existsSync(file) ? readFileSync(file) : undefined;
};

describe("setup writes an editor's settings", () => {
  it.each(readdirSync(FIXTURES))("changes nothing but its entry, and undo gives the same bytes: %s", async (name) => {
    const before = fixture(name, "before");
    if (before !== undefined) place(before);
    expect(await applyEntry(target, entry.name, value)).toBe(true);
    expect(readFileSync(target.file, "utf8")).toBe(fixture(name, "after")?.toString());
    expect(parse(readFileSync(target.file, "utf8")).agent_servers[entry.name]).toEqual(value);
    expect(await applyEntry(target, entry.name, value)).toBe(false);
    expect(await undoEntries(target)).toBe("restored");
    expect(existsSync(target.file) ? readFileSync(target.file) : undefined).toEqual(before);
    expect(readdirSync(root).includes("config")).toBe(before !== undefined);
    expect(existsSync(dirname(target.recordFile))).toBe(false);
    expect([existsSync(backupOf(target.file)), existsSync(target.recordFile)]).toEqual([false, false]);
  });

  it("keeps the backup beside the file, with the file's mode", async () => {
    place("{}", 0o640);
    await applyEntry(target, entry.name, value);
    expect(readFileSync(backupOf(target.file), "utf8")).toBe("{}");
    expect([target.file, backupOf(target.file)].map((file) => statSync(file).mode & 0o777)).toEqual([0o640, 0o640]);
    expect(statSync(target.recordFile).mode & 0o777).toBe(0o600);
  });

  it("undo leaves the record of another editor", async () => {
    const other = { ...target, file: join(root, "other.json"), recordFile: join(root, "data/setup/other.json") };
    await applyEntry(target, entry.name, value);
    await applyEntry(other, entry.name, value);
    await undoEntries(target);
    expect(existsSync(other.recordFile)).toBe(true);
  });

  it("the command names a backup only where there is one", async () => {
    const setup = (...args: string[]) =>
      runCommand("setup", ["zed", "--file", target.file, "--home", join(root, "home"), ...args]);
    expect((await setup("--write", "demo")).stderr).toContain("There was no such file before");
    await setup("--undo");
    place("{}");
    expect((await setup("--write", "demo")).stderr).toContain(backupOf(target.file));
    expect((await setup("--undo")).stderr).toContain("as it was before");
  });

  it("undo after two entries gives back the text before the first", async () => {
    place('{ "a": 1 }');
    await applyEntry(target, "one", value);
    await applyEntry(target, "two", value);
    expect(await undoEntries(target)).toBe("restored");
    expect(readFileSync(target.file, "utf8")).toBe('{ "a": 1 }');
  });

  it("undo of a file the person changed since takes out our entries alone", async () => {
    place(fixture("trailing-commas", "before") ?? "");
    await applyEntry(target, "one", value);
    writeFileSync(target.file, readFileSync(target.file, "utf8").replace('"z": [1, 2,]', '"z": [3]'));
    await applyEntry(target, "two", value);
    expect(await undoEntries(target)).toBe("removed");
    expect(readFileSync(target.file, "utf8")).toBe(
      fixture("trailing-commas", "before")?.toString().replace('"z": [1, 2,]', '"z": [3]'),
    );
  });

  it("undo of a changed file takes the holder out too when only ours was in it", async () => {
    place('{\n  "a": 1\n}\n');
    await applyEntry(target, entry.name, value);
    writeFileSync(target.file, readFileSync(target.file, "utf8").replace('"a": 1', '"a": 2'));
    expect(await undoEntries(target)).toBe("removed");
    expect(readFileSync(target.file, "utf8")).toBe('{\n  "a": 2\n}\n');
  });

  it("undo without a setup, or twice, changes nothing", async () => {
    place("{}");
    expect(await undoEntries(target)).toBe("nothing");
    await applyEntry(target, entry.name, value);
    await undoEntries(target);
    expect(await undoEntries(target)).toBe("nothing");
    expect(readFileSync(target.file, "utf8")).toBe("{}");
  });

  it.each(['{ "a": ', "[1]", '{ "agent_servers": [] }', "<<<<<<< HEAD\n{}"])(
    "leaves a file it cannot read as settings alone: %s",
    async (text) => {
      place(text);
      await expect(applyEntry(target, entry.name, value)).rejects.toBeInstanceOf(SettingsError);
      expect(readFileSync(target.file, "utf8")).toBe(text);
      expect([existsSync(backupOf(target.file)), existsSync(target.recordFile)]).toEqual([false, false]);
    },
  );

  it("writes through a link, as dotfiles often are", async () => {
    mkdirSync(dirname(target.file), { recursive: true });
    writeFileSync(join(root, "dotfile.json"), "{}");
    symlinkSync(join(root, "dotfile.json"), target.file);
    await applyEntry(target, entry.name, value);
    expect(lstatSync(target.file).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(root, "dotfile.json"), "utf8")).toContain(entry.name);
    await undoEntries(target);
    expect(readFileSync(join(root, "dotfile.json"), "utf8")).toBe("{}");
  });
});
