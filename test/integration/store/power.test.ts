/** What the system is asked to put on the disk, as the kernel sees it: nothing else tells a promise from its keeping. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bundle, bundle } from "../../support/bundle.ts";

const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

describe.skipIf(!canTrace)("a power cut", () => {
  let dir: string;
  let writer: Bundle;
  let calls: string[];

  beforeAll(async () => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-power-")));
    writer = await bundle("test/support/durable-writer.mjs");
    const trace = join(dir, "trace");
    const words = ["-f", "-y", "-s", "200", "-e", "trace=write,fsync,fdatasync,?rename,?renameat", "-o", trace];
    // Otherwise some versions hand files to the kernel in a way that cannot be traced.
    const env = { ...process.env, UV_USE_IO_URING: "0" };
    const { status, stderr } = spawnSync("strace", [...words, process.execPath, writer.file, dir], {
      env,
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
    calls = readFileSync(trace, "utf8").split("\n");
  });
  afterAll(() => {
    rmSync(dir, { recursive: true });
    writer.remove();
  });

  /** What was put on the disk, and renamed, in one step: names without the directory. */
  function during(step: string): string[] {
    const [from, to] = [`"begin ${step}\\n"`, `"end ${step}\\n"`].map((mark) =>
      calls.findIndex((call) => call.includes(mark)),
    );
    expect(from).toBeGreaterThanOrEqual(0);
    expect(to).toBeGreaterThan(from ?? 0);
    return calls.slice(from, to).flatMap((call) => {
      const synced = /\b(?:fsync|fdatasync)\(\d+<([^>]*)>/.exec(call)?.[1];
      if (synced !== undefined) return [`sync ${nameOf(synced)}`];
      const renamed = /\brename(?:at)?\((?:AT_FDCWD[^,]*, )?"([^"]*)", (?:AT_FDCWD[^,]*, )?"([^"]*)"/.exec(call);
      return renamed === null ? [] : [`rename ${nameOf(renamed[1] ?? "")} ${nameOf(renamed[2] ?? "")}`];
    });
  }
  const nameOf = (path: string): string =>
    path === dir ? "the directory" : path.slice(dir.length + 1).replace(/\.[0-9a-f]{12}\.tmp$/, ".tmp");

  test.each(["putDevice", "putCredential", "replaceSecret", "revoke", "deleteCredentials"])(
    "C2.tokens %s is in the database's log on the disk when it returns",
    (step) => {
      expect(during(step)).toContain("sync hub.db-wal");
    },
  );

  test.each(["journal", "audit", "seen"])("%s waits for no disk", (step) => {
    expect(during(step)).toEqual([]);
  });

  test.each(["newFile", "sameFile"])(
    "C1.files %s: its content is on the disk before its name, and then the name",
    (step) => {
      expect(during(step)).toEqual(["sync key.json.tmp", "rename key.json.tmp key.json", "sync the directory"]);
      expect(readFileSync(join(dir, "key.json"), "utf8")).toBe("[]");
      expect(statSync(join(dir, "key.json")).mode & 0o777).toBe(0o600);
    },
  );
});
