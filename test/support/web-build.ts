/** Builds the app into a folder of its own, so that a test never sees an old build and never spoils a new one. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";

export async function buildWeb(): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), "acp-hub-web-"));
  const before = process.env["NODE_ENV"];
  // Under a test runner it says "test", and React would come with all its development checks.
  process.env["NODE_ENV"] = "production";
  try {
    await build({ configFile: "src/web/vite.config.ts", logLevel: "error", build: { outDir, emptyOutDir: true } });
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
  return outDir;
}
