import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findTarget, type TargetWanted } from "../../../src/cli/attach/target.ts";
import { UsageError } from "../../../src/cli/exit.ts";

describe("where attach dials", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-target-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const find = (wanted: Partial<TargetWanted>) =>
    findTarget({
      instance: undefined,
      session: undefined,
      url: undefined,
      tokenFile: undefined,
      token: undefined,
      apiSocket: "/run/api.sock",
      ...wanted,
    });

  it("C1.attach without an address it is this computer's hub by its socket, as the owner", async () => {
    expect(await find({ session: "s 1", token: "ignored" })).toEqual({
      url: "ws+unix:///run/api.sock:/acp?session=s+1",
      protocols: ["acp"],
      warnings: [],
    });
  });

  it("C1.attach the token travels as a subprotocol, never in the address", async () => {
    const found = await find({ url: "https://hub.example/base/", token: " a.b-c_d\n", instance: "i" });
    expect(found).toEqual({
      url: "wss://hub.example/base/acp?instance=i",
      protocols: ["acp", "bearer.a.b-c_d"],
      warnings: [],
    });
    expect((await find({ url: "ws://127.0.0.1:8377/acp", token: "t" })).url).toBe("ws://127.0.0.1:8377/acp");
  });

  it("C1.attach a token file goes before the environment, and is said to be open to others if it is", async () => {
    const tokenFile = join(dir, "token");
    writeFileSync(tokenFile, "from-file\n", { mode: 0o600 });
    expect(await find({ url: "http://localhost:1", token: "from-env", tokenFile })).toMatchObject({
      protocols: ["acp", "bearer.from-file"],
      warnings: [],
    });
    chmodSync(tokenFile, 0o644);
    expect((await find({ url: "http://localhost:1", tokenFile })).warnings).toHaveLength(1);
  });

  it("C1.attach warns where the token travels unencrypted beyond this computer", async () => {
    expect((await find({ url: "http://192.168.1.9:8377", token: "t" })).warnings).toHaveLength(1);
    expect((await find({ url: "http://[::1]:8377", token: "t" })).warnings).toEqual([]);
  });

  it.each([
    [{ url: "hub.example", token: "t" }],
    [{ url: "ftp://hub.example", token: "t" }],
    [{ url: "https://me:secret@hub.example", token: "t" }],
    [{ url: "https://hub.example/?token=t", token: "t" }],
    [{ url: "https://hub.example" }],
    [{ url: "https://hub.example", token: "two words" }],
    [{ url: "https://hub.example", tokenFile: "/nowhere/token" }],
  ] as Partial<TargetWanted>[][])("C1.exit-codes %j is a usage error", async (wanted) => {
    await expect(find(wanted ?? {})).rejects.toBeInstanceOf(UsageError);
  });
});
