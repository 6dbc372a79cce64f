// Builds what the package ships: the command line as split ESM, and the web app the hub serves. Packages stay external.

import { existsSync } from "node:fs";
import { chmod, readFile, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL(".", import.meta.url));
/** Another place than dist/, for a build beside one that is in use. */
const outDir = process.env.HUB_BUILD_DIR ?? "dist";
const HASHBANG = "#!/usr/bin/env node";

async function buildCommandLine(version) {
  const entry = "src/cli/main.ts";
  // esbuild keeps a hashbang of the entry; a banner would put one on every chunk.
  const source = await readFile(`${root}${entry}`, "utf8");
  if (!source.startsWith(`${HASHBANG}\n`)) throw new Error(`${entry} must start with ${HASHBANG}`);
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: [entry],
    outbase: "src",
    outdir: outDir,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    sourcemap: true,
    define: { __ACP_HUB_VERSION__: JSON.stringify(version) },
    logLevel: "warning",
  });
  await chmod(resolve(root, outDir, "cli/main.js"), 0o755);
}

async function buildWeb() {
  const vite = await import("vite");
  await vite.build({
    configFile: `${root}src/web/vite.config.ts`,
    build: { outDir: resolve(root, outDir, "web") },
    logLevel: "warn",
  });
}

/** `HUB_BUILD_VERSION`: a build of another version, to test how two of them get on. */
const version = process.env.HUB_BUILD_VERSION ?? JSON.parse(await readFile(`${root}package.json`, "utf8")).version;
await rm(resolve(root, outDir), { recursive: true, force: true });
for (const [part, entry, build] of [
  ["command line", "src/cli/main.ts", buildCommandLine],
  ["web app", "src/web/index.html", buildWeb],
]) {
  if (existsSync(`${root}${entry}`)) await build(version);
  else console.error(`build: no ${part}: ${entry} is not there`);
}
