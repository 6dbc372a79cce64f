/** The file several bridges share: nothing of anybody is lost. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../src/backends/zcode/clock.ts";
import { silentLog } from "../../../src/backends/zcode/log.ts";
import { LazyStore } from "../../../src/backends/zcode/sessions/lazy-store.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "session-map-"));
  path = join(dir, "acp-lazy-sessions.json");
});
const store = () => new LazyStore(path, systemClock, silentLog);

test("H19 records written by two bridges at once are all there", async () => {
  const [a, b] = [store(), store()];
  const work = Array.from({ length: 20 }, (_, at) => [
    a.save(`a${at}`, { cwd: "/a", createdAt: Date.now() }),
    b.save(`b${at}`, { cwd: "/b", createdAt: Date.now() }),
  ]);
  await Promise.all(work.flat());
  expect((await a.read()).size).toBe(40);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(["acp-lazy-sessions.json"]);
});

test("row 61 a torn file is set aside, never overwritten", async () => {
  writeFileSync(path, '{"u1":{"cwd":"/a","zcodeSid":"sess_1"');
  await store().save("u2", { cwd: "/b", createdAt: Date.now() });
  expect([...(await store().read()).keys()]).toEqual(["u2"]);
  const broken = readdirSync(dir).find((name) => name.includes(".broken-"));
  expect(readFileSync(join(dir, broken ?? ""), "utf8")).toContain("sess_1");
});

test("row 62 unused records expire, used ones never; members of others are kept", async () => {
  const old = Date.now() - 40 * 24 * 3_600_000;
  writeFileSync(
    path,
    JSON.stringify({
      unused: { cwd: "/a", createdAt: old },
      used: { cwd: "/a", zcodeSid: "sess_1", createdAt: old, theirs: { x: 1 } },
    }),
  );
  await store().save("fresh", { cwd: "/b", createdAt: Date.now() });
  const table = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  expect(Object.keys(table).sort()).toEqual(["fresh", "used"]);
  expect(table["used"]).toMatchObject({ theirs: { x: 1 } });
});

test("H19 a lock signed by a process that is no more is taken away at once, one of a living process is waited for", async () => {
  const lock = `${path}.lock`;
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  writeFileSync(lock, `${hostname()} ${dead}`);
  await store().save("u1", { cwd: "/a", createdAt: Date.now() });
  expect((await store().read()).has("u1")).toBe(true);
  writeFileSync(lock, `${hostname()} ${process.pid}`);
  const waiting = store().save("u2", { cwd: "/a", createdAt: Date.now() });
  expect(
    await Promise.race([
      waiting.then(() => "written"),
      store()
        .read()
        .then(() => "waits"),
    ]),
  ).toBe("waits");
  expect((await store().read()).has("u2")).toBe(false);
  unlinkSync(lock);
  await waiting;
  expect((await store().read()).has("u2")).toBe(true);
  expect(readdirSync(dir)).toEqual(["acp-lazy-sessions.json"]);
});

test("a lock whose owner was killed does not stop the next bridge, nor do its leftovers stay", async () => {
  const lock = `${path}.lock`;
  const leftover = `${path}.tmp-1-0`;
  for (const file of [lock, leftover]) writeFileSync(file, "");
  const past = new Date(Date.now() - 2 * 3_600_000);
  for (const file of [lock, leftover]) utimesSync(file, past, past);
  await store().save("u1", { cwd: "/a", createdAt: Date.now() });
  expect(readdirSync(dir)).toEqual(["acp-lazy-sessions.json"]);
});

test("a directory that cannot be written fails no session", async () => {
  const blocked = join(dir, "file");
  writeFileSync(blocked, "");
  await new LazyStore(join(blocked, "x", "map.json"), systemClock, silentLog).save("u1", { cwd: "/a", createdAt: 1 });
  expect((await new LazyStore(join(blocked, "x", "map.json"), systemClock, silentLog).read()).size).toBe(0);
});
