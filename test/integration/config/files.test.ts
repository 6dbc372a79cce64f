import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { makePrivateDir } from "../../../src/config/paths.ts";
import { configSchemaText } from "../../../src/config/schema-json.ts";

describe("shipped files", () => {
  test("C1.config the JSON Schema is what the schema says today (run src/config/schema-json.ts when it is not)", () => {
    const shipped: unknown = JSON.parse(readFileSync("config/acp-hub.schema.json", "utf8"));
    expect(shipped).toEqual(JSON.parse(configSchemaText()));
  });

  test("C1.config the example loads without a word, and holds the defaults it says it holds", () => {
    const { config, warnings, file } = loadConfig({ file: "config/acp-hub.example.jsonc", env: {} });
    expect(warnings).toEqual([]);
    expect(file.exists).toBe(true);
    expect(config).toEqual({
      ...DEFAULT_CONFIG,
      agents: { claude: { command: "claude-agent-acp", args: [], env: {} } },
    });
  });

  test("what a bridge reads first pulls in no package at all", async () => {
    const { metafile } = await esbuild.build({
      entryPoints: ["src/config/paths.ts", "src/config/bridge-settings.ts"],
      bundle: true,
      write: false,
      outdir: "out",
      metafile: true,
      platform: "node",
      format: "esm",
    });
    expect(Object.keys(metafile.inputs).filter((path) => path.includes("node_modules"))).toEqual([]);
  });
});

describe("private directories", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-config-"));
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const modeOf = (path: string): number => statSync(path).mode & 0o7777;

  test("C1.files a new directory is 0700 with all above it, and an open one is closed", () => {
    makePrivateDir(join(dir, "a", "b"));
    expect([modeOf(join(dir, "a")), modeOf(join(dir, "a", "b"))]).toEqual([0o700, 0o700]);
    mkdirSync(join(dir, "open"));
    chmodSync(join(dir, "open"), 0o755);
    makePrivateDir(join(dir, "open"));
    expect(modeOf(join(dir, "open"))).toBe(0o700);
  });

  test("C1.files a directory all users share is refused and not closed", () => {
    mkdirSync(join(dir, "shared"));
    chmodSync(join(dir, "shared"), 0o1777);
    expect(() => makePrivateDir(join(dir, "shared"))).toThrow(/choose a directory of your own/);
    expect(modeOf(join(dir, "shared"))).toBe(0o1777);
  });

  test("C1.files another user's directory, or a link another user laid, is refused; one's own link is fine", () => {
    mkdirSync(join(dir, "mine"));
    symlinkSync(join(dir, "mine"), join(dir, "link"));
    makePrivateDir(join(dir, "link"));
    expect(modeOf(join(dir, "mine"))).toBe(0o700);
    const stranger = (process.getuid?.() ?? 0) + 1;
    expect(() => makePrivateDir(join(dir, "mine"), stranger)).toThrow(/another user/);
    expect(() => makePrivateDir(join(dir, "link"), stranger)).toThrow(/another user/);
  });

  test("a configuration that cannot be read is no empty one", () => {
    mkdirSync(join(dir, "config.json"));
    expect(() => loadConfig({ file: join(dir, "config.json"), env: {} })).toThrow(/EISDIR/);
    writeFileSync(join(dir, "other.json"), '{ "port": 1 }');
    expect(loadConfig({ file: join(dir, "other.json"), env: {} }).config.port).toBe(1);
    expect(loadConfig({ file: join(dir, "none.json"), env: {} }).file.exists).toBe(false);
  });
});
