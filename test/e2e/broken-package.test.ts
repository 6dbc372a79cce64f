/** An installation whose optional SQLite package is there by half: what a failed build, a copied folder or another Node leaves. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { finished, Home } from "../support/cli.ts";

const ADDON = "build/Release/better_sqlite3.node";
/** Where the runtime has an SQLite of its own the package is not asked for. */
const isBuiltIn = process.getBuiltinModule?.("node:sqlite") !== undefined;

describe.skipIf(isBuiltIn)("half a better-sqlite3", () => {
  let place: string;
  let main: string;
  let home: Home;
  beforeEach(() => {
    home = new Home();
    place = mkdtempSync(join(tmpdir(), "acp-hub-broken-"));
    main = join(place, "dist/cli/main.js");
    cpSync("dist", join(place, "dist"), { recursive: true });
    cpSync("package.json", join(place, "package.json"));
    const real = realpathSync("node_modules");
    mkdirSync(join(place, "node_modules"));
    for (const name of readdirSync(real)) {
      if (name !== "better-sqlite3") symlinkSync(join(real, name), join(place, "node_modules", name));
    }
    for (const part of ["package.json", "lib", ADDON])
      cpSync(join(real, "better-sqlite3", part), join(place, "node_modules/better-sqlite3", part), { recursive: true });
  });
  afterEach(async () => {
    await home.remove();
    rmSync(place, { recursive: true });
  });

  const run = (...args: string[]) => finished(home.spawnCommand(process.execPath, [main, ...args]));
  const packaged = (part: string): string => join(place, "node_modules/better-sqlite3", part);

  async function expectTold(what: RegExp, fix: RegExp): Promise<void> {
    const serve = await run("serve", "--port", "0");
    expect([serve.code, serve.stdout]).toEqual([1, ""]);
    expect(serve.stderr).toMatch(what);
    expect(serve.stderr).toMatch(fix);
    const log = readFileSync(join(home.dir, "logs/hub.log"), "utf8");
    expect(log).toMatch(what);
    // There is no database yet: the check is of what would open it.
    const findings = JSON.parse((await run("doctor", "--json")).stdout) as Finding[];
    expect(findings.filter(({ id }) => id === "database")).toEqual([
      { id: "database", level: "fail", text: expect.stringMatching(what), fix: expect.stringMatching(fix) },
    ]);
    for (const text of [serve.stderr, log]) expect(text).not.toMatch(/disk/);
  }

  it("C1.daemon a missing module of it is named by serve, doctor and the log, and no disk is accused", async () => {
    rmSync(packaged("lib/util.js"));
    await expectTold(/does not load: \.\/util is missing/, /install acp-hub again/);
  });

  it("C1.daemon a missing native part is named", async () => {
    rmSync(packaged(ADDON));
    await expectTold(/its native part was not built, or is gone/, /npm rebuild better-sqlite3/);
  });

  it("C1.daemon a native part of another system is named", async () => {
    writeFileSync(packaged(ADDON), "made for another system ".repeat(400));
    await expectTold(/does not load: .*invalid ELF header/, /npm rebuild better-sqlite3/);
  });
});
