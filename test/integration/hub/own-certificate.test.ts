import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tlsFiles } from "../../../src/hub/tls.ts";

describe("a certificate of the hub's own", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-tls-"));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  async function fingerprint(names: readonly string[] = ["localhost"]): Promise<string> {
    const files = await tlsFiles({ selfSigned: true }, dir, names);
    if (files?.fingerprint === undefined) throw new Error("no certificate was made");
    createSecureContext({ cert: files.cert, key: files.key });
    return files.fingerprint;
  }

  test("C1.files it is made once, kept in files of 0600, and made anew for another name", async () => {
    const first = await fingerprint();
    expect(await fingerprint()).toBe(first);
    expect(readdirSync(dir).sort()).toEqual(["tls.crt", "tls.key"]);
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    expect(await fingerprint(["localhost", "192.0.2.7"])).not.toBe(first);
  });

  test("L2 what a hub left that ended between its two files is made anew, and keeps no hub from starting", async () => {
    const first = await fingerprint();
    copyFileSync(join(dir, "tls.crt"), join(dir, "old.crt"));
    rmSync(join(dir, "tls.crt"));
    const second = await fingerprint();
    expect(second).not.toBe(first);
    // The key of the second with the certificate of the first.
    copyFileSync(join(dir, "old.crt"), join(dir, "tls.crt"));
    const third = await fingerprint();
    expect([first, second]).not.toContain(third);
    writeFileSync(join(dir, "tls.crt"), "");
    expect(await fingerprint()).not.toBe(third);
  });
});
