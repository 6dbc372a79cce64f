/** Where this installation is: `deploy/` and `config/` are read from there, built or not. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The directory of our package.json. Throws when this file was taken out of its package. */
export function packageRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const file = join(dir, "package.json");
    if (existsSync(file) && readFileSync(file, "utf8").includes('"name": "acp-hub"')) return dir;
    const parent = dirname(dir);
    if (parent === dir) throw new Error("The installation is incomplete: its package.json is missing");
    dir = parent;
  }
}
