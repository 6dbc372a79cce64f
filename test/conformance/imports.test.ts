import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, type ICruiseOptions, type ICruiseResult } from "dependency-cruiser";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { afterEach, expect, test } from "vitest";

const config = createRequire(import.meta.url)("../../.dependency-cruiser.cjs") as {
  forbidden: NonNullable<ICruiseOptions["ruleSet"]>["forbidden"];
  options: ICruiseOptions & { enhancedResolveOptions: Record<string, unknown> };
};

const scratch: string[] = [];
afterEach(async () => {
  for (const dir of scratch.splice(0)) await rm(dir, { recursive: true });
});

async function cruiseTree(baseDir: string): Promise<ICruiseResult> {
  const { enhancedResolveOptions, tsConfig: _, ...options } = config.options;
  const answer = await cruise(
    ["src"],
    { ...options, baseDir, validate: true, ruleSet: { forbidden: config.forbidden ?? [] } },
    enhancedResolveOptions,
    { tsConfig: extractTSConfig(join(process.cwd(), "tsconfig.json")) },
  );
  if (typeof answer.output === "string") throw new Error("the cruise gave a report instead of a result");
  return answer.output;
}

/** Writes a small source tree and names the rules it breaks. */
async function brokenRules(files: Record<string, string>): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), "acp-hub-imports-"));
  scratch.push(dir);
  for (const [path, source] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), source);
  }
  const result = await cruiseTree(dir);
  return result.summary.violations.map((violation) => violation.rule.name);
}

test("D5.arrows every source file is cruised and no arrow turns around", async () => {
  const onDisk = (await readdir("src", { recursive: true }))
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => `src/${path}`);
  const result = await cruiseTree(process.cwd());
  const cruised = new Set(result.modules.map((module) => module.source));
  expect(onDisk.length).toBeGreaterThan(12);
  expect(onDisk.filter((path) => !cruised.has(path))).toEqual([]);
  expect(result.summary.violations.map((v) => `${v.rule.name}: ${v.from} -> ${v.to}`)).toEqual([]);
});

test("D5.arrows a planted fault of each kind is found", async () => {
  const value = "export const x: number = 1;\n";
  const uses = (path: string) => `import { x } from "${path}";\nexport const y: number = x;\n`;
  expect(await brokenRules({ "src/hub/a.ts": value, "src/core/b.ts": uses("../hub/a.ts") })).toEqual(["arrow-core"]);
  expect(await brokenRules({ "src/core/a.ts": 'import "node:fs";\n' })).toEqual(["core-no-node-builtins"]);
  expect(await brokenRules({ "src/core/a.ts": uses("./b.ts"), "src/core/b.ts": uses("./a.ts") })).toContain(
    "no-circular",
  );
  expect(await brokenRules({ "src/new/a.ts": value, "src/cli/b.ts": uses("../new/a.ts") })).toContain("unknown-folder");
  expect(await brokenRules({ "src/client/a.ts": uses("../core/b.ts"), "src/core/b.ts": value })).toEqual([
    "arrow-client",
  ]);
  expect(await brokenRules({ "src/hub/a.ts": uses("./gone.ts") })).toEqual(["no-unresolved"]);
});
