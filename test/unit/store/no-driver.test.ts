/** The messages are those of Node 20 and 24 and of `bindings`, word for word. */
import { describe, expect, test } from "vitest";
import { type DriverLoaders, openDatabase } from "../../../src/store/driver.ts";
import { NoDriverError } from "../../../src/store/no-driver.ts";

const ADDON = "/opt/acp-hub/node_modules/better-sqlite3/build/Release/better_sqlite3.node";
const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code });

/** What opening a database comes to when the package does `load`. */
function openWith(load: DriverLoaders["betterSqlite3"]): NoDriverError {
  try {
    openDatabase("/nowhere/hub.db", { nodeSqlite: () => undefined, betterSqlite3: load });
  } catch (error) {
    if (error instanceof NoDriverError) return error;
    throw error;
  }
  throw new Error("a database was opened");
}

function brokenBy(cause: Error): NoDriverError {
  return openWith(() => {
    throw cause;
  });
}

describe("a runtime without an SQLite", () => {
  test("without the package, both ways out are named", () => {
    const cause = coded("MODULE_NOT_FOUND", "Cannot find module 'better-sqlite3'\nRequire stack:\n- /opt/main.js");
    const error = brokenBy(cause);
    expect([error.code, error.cause]).toEqual(["no-driver", cause]);
    expect(error.what).toBe(
      `Node ${process.versions.node} has no built-in SQLite, and the optional package "better-sqlite3" is not installed`,
    );
    expect(error.fix).toMatch(/npm rebuild better-sqlite3.*Node 22\.13/);
    expect(error.message).toBe(`${error.what}. What to do: ${error.fix}.`);
  });

  test.each([
    [
      "a module of its own",
      coded("MODULE_NOT_FOUND", "Cannot find module './util'\nRequire stack:\n- /opt/database.js"),
      /does not load: \.\/util is missing$/,
      /^install acp-hub again/,
    ],
    [
      "a module it needs",
      coded("MODULE_NOT_FOUND", "Cannot find module 'bindings'\nRequire stack:\n- /opt/database.js"),
      /does not load: bindings is missing$/,
      /^install acp-hub again/,
    ],
    [
      "its entry",
      coded(
        "MODULE_NOT_FOUND",
        "Cannot find module '/opt/better-sqlite3/lib/index.js'. Please verify that the package.json has a valid \"main\" entry",
      ),
      /does not load: \/opt\/better-sqlite3\/lib\/index\.js is missing$/,
      /^install acp-hub again/,
    ],
    [
      "its native part",
      Object.assign(new Error(`Could not locate the bindings file. Tried:\n → ${ADDON}`), { tries: [ADDON] }),
      /does not load: its native part was not built, or is gone$/,
      /npm rebuild better-sqlite3/,
    ],
  ])("half a package: without %s", (_what, cause, what, fix) => {
    const error = brokenBy(cause);
    expect(error.what).toMatch(what);
    expect(error.fix).toMatch(fix);
    expect(error.message).not.toMatch(/disk/);
  });

  test("a native part of another Node is told by both versions", () => {
    const error = brokenBy(
      coded(
        "ERR_DLOPEN_FAILED",
        `The module '${ADDON}'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 115. This version of ` +
          "Node.js requires\nNODE_MODULE_VERSION 137. Please try re-compiling or re-installing\nthe module (for instance, " +
          "using `npm rebuild` or `npm install`).",
      ),
    );
    expect(error.what).toContain("built for another Node (module version 115, this one wants 137)");
    expect(error.fix).toMatch(/^with this very Node, run "npm rebuild better-sqlite3"/);
  });

  test("a native part that is no library of this system is told in the system's words", () => {
    const error = brokenBy(coded("ERR_DLOPEN_FAILED", `${ADDON}: invalid ELF header`));
    expect(error.what).toMatch(/does not load: .*invalid ELF header$/);
    expect(error.fix).toMatch(/npm rebuild better-sqlite3/);
  });

  test("a package that loads and is none is told, too", () => {
    const error = openWith(() => ({}) as never);
    expect(error.what).toMatch(/does not load: .*is not a constructor$/);
    expect(error.fix).toMatch(/^install acp-hub again/);
  });

  test("a file that cannot be opened is no fault of the package", () => {
    class Refusing {
      constructor(path: string) {
        if (path !== ":memory:") throw coded("SQLITE_CANTOPEN", "unable to open database file");
      }
      close(): void {}
    }
    expect(() => openWith(() => Refusing as never)).toThrow(expect.objectContaining({ code: "SQLITE_CANTOPEN" }));
  });
});
