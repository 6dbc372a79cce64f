import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deviceId } from "../../../src/protocol/ids.ts";
import { openDatabase } from "../../../src/store/driver.ts";
import type { StoreError } from "../../../src/store/errors.ts";
import { SCHEMA_VERSION } from "../../../src/store/migrations.ts";
import { type OpenedStore, openStore } from "../../../src/store/open-store.ts";
import { type Bundle, bundle } from "../../support/bundle.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { chunk, device, E1, E2, keyOf, session, textOf, toolCall } from "../../support/store-samples.ts";

const A = keyOf("a");

describe("the database file", () => {
  let dir: string;
  let path: string;
  let errors: StoreError[];
  const opened: OpenedStore[] = [];

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-store-"));
    path = join(dir, "home", "hub.db");
    errors = [];
  });
  afterEach(() => {
    for (const { store } of opened.splice(0)) store.close();
    rmSync(dir, { recursive: true });
  });

  function open(): OpenedStore {
    const result = openStore({ path, scheduler: new ManualClock(), onError: (error) => errors.push(error) });
    opened.push(result);
    return result;
  }

  const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);
  const files = (): string[] => readdirSync(join(dir, "home")).sort();

  function fill(count: number, chars = 1_000): void {
    const { store } = open();
    store.sessions.upsert(session(A));
    for (let seq = 1; seq <= count; seq++) {
      store.journal.append(A, E1, [toolCall(seq, `tool ${seq} `.padEnd(chars, "."))]);
      store.journal.flush();
    }
    store.close();
  }

  test("a hundred sessions that stream at once, without a quiet moment, keep the log small", () => {
    const { store } = open();
    const keys = Array.from({ length: 100 }, (_, n) => keyOf(`s${n}`));
    let largest = 0;
    for (let seq = 1; seq <= 150; seq++) {
      for (const key of keys) store.journal.append(key, E1, [chunk(seq, "some words ")]);
      store.journal.flush();
      largest = Math.max(largest, statSync(`${path}-wal`).size);
    }
    expect(errors).toEqual([]);
    expect(largest).toBeLessThan(8_388_608);
  });

  test("C1.files the directory is 0700 and the database with its companions 0600", () => {
    const { store } = open();
    store.journal.append(A, E1, [chunk(1, "x")]);
    store.journal.flush();
    expect(modeOf(join(dir, "home"))).toBe("700");
    expect(files()).toEqual(["hub.db", "hub.db-shm", "hub.db-wal"]);
    for (const name of files()) expect([name, modeOf(join(dir, "home", name))]).toEqual([name, "600"]);
  });

  test("L2 everything is there again after a restart, and a clean end leaves one file", () => {
    const first = open().store;
    first.sessions.upsert(session(A, { title: "Kept" }));
    first.journal.append(A, E1, [chunk(1, "kept "), chunk(2, "text")]);
    first.devices.putDevice(device("phone"));
    first.close();
    expect(files()).toEqual(["hub.db"]);
    const { store, notices } = open();
    expect(notices).toEqual([]);
    expect(store.sessions.get(A)?.title).toBe("Kept");
    expect(textOf(store.journal.read(A, E1, { after: 0 }).items)).toBe("kept text");
    expect(store.devices.getDevice(deviceId("phone"))).toBeDefined();
    store.journal.append(A, E1, [chunk(2, "text"), chunk(3, ", on")]);
    expect(textOf(store.journal.read(A, E1, { after: 0 }).items)).toBe("kept text, on");
  });

  test("a file that is no database is moved aside with its name kept, and the hub starts with a new one", () => {
    open().store.close();
    writeFileSync(path, "this was never a database ".repeat(500));
    const { store, notices } = open();
    expect(notices).toHaveLength(1);
    const [notice] = notices;
    expect(notice?.movedTo).toMatch(/hub\.db\.damaged-\d{8}T\d{6}Z$/);
    expect(notice?.message).toContain(notice?.movedTo);
    expect(readFileSync(notice?.movedTo ?? "", "utf8")).toContain("never a database");
    expect(store.sessions.list({}).hits).toEqual([]);
    store.sessions.upsert(session(A));
    expect(store.sessions.get(A)).toBeDefined();
  });

  test("damage in the middle of the file is found at the start", () => {
    fill(200);
    const size = statSync(path).size;
    const handle = openSync(path, "r+");
    for (let at = 8_192; at < size; at += 4_096) writeSync(handle, Buffer.alloc(4_096, 0x5a), 0, 4_096, at);
    closeSync(handle);
    expect(open().notices.map((notice) => notice.kind)).toEqual(["damaged-moved-aside"]);
  });

  test("a file that was cut off is found at the start, twice in one second", () => {
    for (let round = 0; round < 2; round++) {
      fill(200);
      truncateSync(path, 20_000);
      const { store, notices } = open();
      expect(notices).toHaveLength(1);
      store.close();
    }
    expect(files().filter((name) => name.includes("damaged"))).toHaveLength(2);
  });

  test("damage met while running is told, and the next start looks at the whole file", () => {
    // More than the page cache holds after the check at the start.
    fill(4_000, 5_000);
    const { store } = open();
    const handle = openSync(path, "r+");
    for (let at = 4_096 * 40; at < 4_096 * 60; at += 4_096) writeSync(handle, Buffer.alloc(4_096, 0x5a), 0, 4_096, at);
    closeSync(handle);
    expect(() => store.journal.read(A, E1, { after: 0, limitBytes: 1e9 })).toThrow(
      expect.objectContaining({ code: "damaged" }),
    );
    expect(existsSync(`${path}.suspect`)).toBe(true);
    store.close();
    expect(open().notices).toHaveLength(1);
    expect(existsSync(`${path}.suspect`)).toBe(false);
  });

  test("C6.limits a row that was packed and is damaged is told, whatever its bytes say, and the others are read", async () => {
    const clock = new ManualClock();
    const { store } = openStore({ path, scheduler: clock, onError: (error) => errors.push(error) });
    const text = "what was said, and said again. ".repeat(20);
    for (const [epoch, seq] of [
      [E1, 1],
      [E2, 1],
    ] as const) {
      store.journal.append(A, epoch, [chunk(seq, text)]);
      await clock.advance(5_000);
    }
    const other = openDatabase(path);
    const packed = other.prepare("SELECT id, length(packed) AS n FROM journal ORDER BY id").all();
    expect(packed.map(({ n }) => Number(n) < text.length / 2)).toEqual([true, true]);
    other.prepare("UPDATE journal SET packed = zeroblob(40) WHERE id = ?").run(packed[0]?.["id"] ?? null);
    other.close();
    expect(() => store.journal.read(A, E1, { after: 0 })).toThrow(expect.objectContaining({ code: "damaged" }));
    expect(textOf(store.journal.read(A, E2, { after: 0 }).items)).toBe(text);
    store.close();
    expect(existsSync(`${path}.suspect`)).toBe(true);
  });

  test("a database of the first version is brought up to date: all is read, found and packed again", async () => {
    mkdirSync(join(dir, "home"));
    copyFileSync("test/fixtures/store/hub-v1.db", path);
    const clock = new ManualClock();
    const { store, notices } = openStore({ path, scheduler: clock, onError: (error) => errors.push(error) });
    const find = (text: string): string[] => store.sessions.list({ text }).hits.map((hit) => hit.session.sessionId);
    const read = (): string => textOf(store.journal.read(A, E1, { after: 0 }).items);
    expect(notices).toEqual([]);
    const before = store.journal.epoch(A, E1);
    const said = read();
    expect(said).toMatch(/^Written by the first version\. .* The end\.$/);
    expect(find("title")).toEqual(["a"]);
    expect(find("first version")).toEqual(["a"]);
    await clock.advance(10_000);
    const after = store.journal.epoch(A, E1);
    expect(after).toEqual({ ...before, bytes: after?.bytes });
    expect(after?.bytes).toBeLessThan((before?.bytes ?? 0) / 2);
    expect(read()).toBe(said);
    expect(store.devices.listDevices()).toHaveLength(1);
    const actor = { deviceId: "d", connectionId: "c_1", name: "n" };
    expect(store.audit.append({ at: 1, actor, action: "session.prompt" })).toBe(true);
    expect(store.audit.tail(1)[0]?.actor).toEqual(actor);
    expect(errors).toEqual([]);
    store.close();
  });

  test("a database of a newer version is refused with words and left alone", () => {
    open().store.close();
    const newer = openDatabase(path);
    newer.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    newer.close();
    expect(open).toThrow(
      expect.objectContaining({ code: "newer-version", message: expect.stringMatching(/newer acp-hub.*--home/) }),
    );
    expect(files().filter((name) => name.includes("damaged"))).toEqual([]);
    const after = openDatabase(path);
    expect(after.prepare("PRAGMA user_version").get()?.["user_version"]).toBe(SCHEMA_VERSION + 1);
    after.close();
  });

  test("a place that cannot be written is an error with a code, not a crash", () => {
    writeFileSync(join(dir, "home"), "a file where the directory should be");
    expect(open).toThrow(
      expect.objectContaining({ name: "StoreError", code: "cannot-open", message: expect.stringContaining(path) }),
    );
  });

  test("L2 a lock held by another process costs nothing but a report: the journal waits, and lands", async () => {
    const clock = new ManualClock();
    const { store, health } = openStore({ path, scheduler: clock, onError: (error) => errors.push(error) });
    const other = openDatabase(path);
    other.exec("BEGIN IMMEDIATE");
    store.journal.append(A, E1, [chunk(1, "patient")]);
    expect(store.journal.flush()).toBe(false);
    expect(store.audit.append({ at: 1, actor: { deviceId: "d", name: "n" }, action: "x" })).toBe(false);
    expect(() => store.devices.putDevice(device("phone"))).toThrow(expect.objectContaining({ code: "locked" }));
    expect(new Set(errors.map((error) => error.code))).toEqual(new Set(["locked"]));
    expect(textOf(store.journal.read(A, E1, { after: 0 }).items)).toBe("patient");
    expect(health()).toMatchObject({ fault: { code: "locked" }, lost: { events: 0, records: 1 } });
    expect(health().waitingBytes).toBeGreaterThan(0);
    other.exec("COMMIT");
    other.close();
    await clock.advance(1_000);
    expect(health()).toEqual({ waitingBytes: 0, lost: { events: 0, records: 1 } });
    store.close();
    expect(textOf(open().store.journal.read(A, E1, { after: 0 }).items)).toBe("patient");
  });

  test("X13 the audit refuses to be changed, by whatever program", () => {
    const { store } = open();
    store.audit.append({ at: 1, actor: { deviceId: "d", name: "n" }, action: "device.revoke" });
    const other = openDatabase(path);
    expect(() => other.exec("UPDATE audit SET action = 'nothing'")).toThrow(/append-only/);
    expect(() => other.exec("DELETE FROM audit")).toThrow(/append-only/);
    store.audit.append({ at: 2, actor: { deviceId: "d", name: "n" }, action: "device.rename" });
    expect(() => other.exec("DELETE FROM audit WHERE id = 2")).toThrow(/append-only/);
    expect(store.audit.prune({ at: 3, countMax: 1 })).toBe(1);
    // What went opened no door for the rest.
    expect(() => other.exec("DELETE FROM audit")).toThrow(/append-only/);
    other.close();
    expect(store.audit.tail(5).map((record) => record.action)).toEqual(["device.rename", "audit.prune"]);
  });
});

describe("a killed process", () => {
  let dir: string;
  let writer: Bundle;
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-kill-"));
    writer = await bundle("test/support/store-writer.mjs");
  });
  afterEach(() => {
    rmSync(dir, { recursive: true });
    writer.remove();
  });

  test("L2 what a process said was durable is there after kill -9, in order and without holes", async () => {
    const path = join(dir, "hub.db");
    const child = spawn(process.execPath, [writer.file, path], { stdio: ["ignore", "pipe", "inherit"] });
    const closed = once(child, "close");
    let durable = 0;
    for await (const data of child.stdout) {
      durable = Number(String(data).trim().split("\n").at(-1));
      if (durable > 2_000) break;
    }
    child.kill("SIGKILL");
    await closed;
    const { store, notices } = openStore({ path, scheduler: new ManualClock(), onError: () => undefined });
    const items = store.journal.read(A, E1, { after: 0, limitBytes: 1e9 }).items;
    store.close();
    expect(notices).toEqual([]);
    expect(items.at(-1)?.last).toBeGreaterThanOrEqual(durable);
    let next = 1;
    for (const item of items) {
      expect(item.first).toBe(next);
      next = item.last + 1;
    }
  });
});
