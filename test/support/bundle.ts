/** Makes one runnable file of a TypeScript entry, for tests that need a process of our own code: the oldest runtime cannot read TypeScript. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

export interface Bundle {
  readonly file: string;
  remove(): void;
}

/** `entry` is relative to the root of the repository. Packages stay outside, found from the repository. */
export async function bundle(entry: string): Promise<Bundle> {
  // Inside the repository, so that packages resolve.
  const dir = mkdtempSync(join(process.cwd(), "node_modules", ".acp-hub-bundle-"));
  const file = join(dir, "main.mjs");
  const options = { bundle: true, format: "esm", platform: "node", packages: "external", logLevel: "warning" } as const;
  await build({ ...options, entryPoints: [entry], outfile: file });
  return { file, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
