/** Builds the app into a folder of its own, so that a test never sees an old build and never spoils a new one. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";

export async function buildWeb(): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), "acp-hub-web-"));
  await build({ configFile: "src/web/vite.config.ts", logLevel: "error", build: { outDir, emptyOutDir: true } });
  return outDir;
}
