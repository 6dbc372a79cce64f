// Builds what the package ships: the command line as split ESM, and the web app the hub serves. Packages stay external.

import { existsSync } from "node:fs";
import { chmod, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
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
  await packWeb(resolve(root, outDir, "web"));
}

/** Less than this saved is not worth a file. */
const PACK_SAVES_BYTES = 256;

/**
 * The app goes over mobile networks: its text is shipped packed as tight as can be, in what browsers take (gzip alone where the
 * hub speaks plain HTTP). The plain file goes: the hub unpacks it for whoever takes neither.
 */
async function packWeb(dir) {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const texts = entries.filter((entry) => entry.isFile() && /\.(?:html|js|css|svg|webmanifest)$/.test(entry.name));
  await Promise.all(texts.map((entry) => packFile(join(entry.parentPath, entry.name))));
}

async function packFile(path) {
  const plain = await readFile(path);
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params }),
    promisify(gzip)(plain, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  if (gz.length > plain.length - PACK_SAVES_BYTES) return;
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
  await rm(path);
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
