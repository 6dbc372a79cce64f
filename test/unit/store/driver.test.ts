import { describe, expect, test } from "vitest";
import { openDatabase } from "../../../src/store/driver.ts";
import { asStoreError, StoreError } from "../../../src/store/errors.ts";

const open = () => openDatabase(":memory:");

describe("driver", () => {
  test("the runtime's own SQLite is used where it has one", () => {
    const [major = 0] = process.versions.node.split(".").map(Number);
    expect(open().driver).toBe(major >= 24 ? "node:sqlite" : "better-sqlite3");
  });

  test("rows hold text, numbers, blobs and null", () => {
    const row = open()
      .prepare("SELECT ? AS t, ? AS i, ? AS f, ? AS n, ? AS b")
      .get("é", 2 ** 53 - 1, 1.5, null, new Uint8Array([1, 2]));
    expect({ ...row }).toMatchObject({ t: "é", i: 2 ** 53 - 1, f: 1.5, n: null });
    expect(Buffer.from(row?.["b"] as Uint8Array).toString("hex")).toBe("0102");
  });

  test("a transaction is all or nothing, and one inside another is part of it", () => {
    const database = open();
    database.exec("CREATE TABLE t (n INTEGER)");
    const insert = database.prepare("INSERT INTO t VALUES (?)");
    const count = () => database.prepare("SELECT count(*) AS n FROM t").get()?.["n"];
    database.transaction(() => database.transaction(() => insert.run(1)));
    expect(count()).toBe(1);
    const failing = () =>
      database.transaction(() => {
        insert.run(2);
        database.transaction(() => insert.run(3));
        throw new Error("no");
      });
    expect(failing).toThrow("no");
    expect(count()).toBe(1);
    database.transaction(() => insert.run(4));
    expect(count()).toBe(2);
  });

  test("a walk over rows can be left early and reads may go on beside it", () => {
    const database = open();
    database.exec("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2), (3)");
    const all = database.prepare("SELECT n FROM t ORDER BY n");
    for (const row of all.iterate()) {
      expect(database.prepare("SELECT n FROM t WHERE n = ?").get(row["n"] ?? 0)).toBeDefined();
      if (row["n"] === 2) break;
    }
    database.prepare("INSERT INTO t VALUES (4)").run();
    expect(all.all()).toHaveLength(4);
  });

  test("faults of both drivers and of the file system get the same codes", () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [{ code: "SQLITE_FULL" }, "disk-full"],
      [{ code: "ERR_SQLITE_ERROR", errcode: 13 }, "disk-full"],
      [{ code: "ENOSPC" }, "disk-full"],
      [{ code: "SQLITE_BUSY_SNAPSHOT" }, "locked"],
      [{ code: "ERR_SQLITE_ERROR", errcode: 5 | (2 << 8) }, "locked"],
      [{ code: "SQLITE_READONLY_DIRECTORY" }, "read-only"],
      [{ code: "SQLITE_CORRUPT_VTAB" }, "damaged"],
      [{ code: "ERR_SQLITE_ERROR", errcode: 26 }, "damaged"],
      [{ code: "SQLITE_CONSTRAINT_TRIGGER" }, "constraint"],
      [{ code: "SQLITE_PROTOCOL" }, "locked"],
      [{ code: "SQLITE_IOERR_FSYNC" }, "io"],
      [{ code: "ERR_SQLITE_ERROR", errcode: 10 | (4 << 8) }, "io"],
      [{ code: "EIO" }, "io"],
      [{ code: "SQLITE_CANTOPEN_ISDIR" }, "cannot-open"],
      [{ code: "ERR_SQLITE_ERROR", errcode: 14 }, "cannot-open"],
      [{ code: "EACCES" }, "cannot-open"],
      [{ code: "ENOTDIR" }, "cannot-open"],
      [{ code: "EMFILE" }, "cannot-open"],
      [new TypeError("The database connection is not open"), "closed"],
      [Object.assign(new Error("database is not open"), { code: "ERR_INVALID_STATE" }), "closed"],
    ];
    for (const [cause, code] of cases) {
      const error = asStoreError(cause, "writing");
      expect([error.code, error.cause]).toEqual([code, cause]);
      expect(error.message).toMatch(/^writing: /);
    }
    const known = new StoreError("closed", "closed");
    expect(asStoreError(known, "writing")).toBe(known);
  });

  test("only what the disk or the system reports is called a fault of the disk: anything else is unexpected, by its name", () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [{ code: "SQLITE_ERROR" }, "SQLITE_ERROR"],
      [{ code: "SQLITE_NOMEM" }, "SQLITE_NOMEM"],
      [{ code: "ERR_SQLITE_ERROR", errcode: 21 }, "SQLite result 21"],
      [{ code: "ERR_INVALID_ARG_TYPE" }, "ERR_INVALID_ARG_TYPE"],
      [new TypeError("what the agent said"), "TypeError"],
      [new RangeError("Invalid string length"), "RangeError"],
      ["what", "string"],
      [null, "object"],
      [undefined, "undefined"],
    ];
    for (const [cause, label] of cases) {
      const error = asStoreError(cause, "writing");
      expect([error.code, error.message]).toEqual([
        "unexpected",
        `writing: an error acp-hub does not expect (${label})`,
      ]);
    }
  });

  test("a database that was closed says so, by either driver", () => {
    const database = open();
    database.close();
    let thrown: unknown;
    try {
      database.prepare("SELECT 1").get();
    } catch (error) {
      thrown = error;
    }
    expect(asStoreError(thrown, "reading")).toMatchObject({ code: "closed", message: "reading: the store is closed" });
  });

  test("a real refusal of the schema is recognised", () => {
    const database = open();
    database.exec("CREATE TABLE t (n INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)");
    let thrown: unknown;
    try {
      database.exec("INSERT INTO t VALUES (1)");
    } catch (error) {
      thrown = error;
    }
    expect(asStoreError(thrown, "x").code).toBe("constraint");
  });
});
