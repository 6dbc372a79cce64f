/** Builds of other versions, as an update leaves them on a machine: each a package of its own in a temporary directory. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Versions {
  readonly #place: string = mkdtempSync(join(tmpdir(), "acp-hub-versions-"));

  /** Builds one; the answer is its entry point. */
  build(version: string): string {
    const dir = join(this.#place, version);
    mkdirSync(dir);
    writeFileSync(join(dir, "package.json"), JSON.stringify({ name: "acp-hub", version, type: "module" }, null, 2));
    for (const shared of ["node_modules", "config", "deploy"]) symlinkSync(realpathSync(shared), join(dir, shared));
    const env = { ...process.env, HUB_BUILD_DIR: join(dir, "dist"), HUB_BUILD_VERSION: version };
    execFileSync(process.execPath, ["build.mjs"], { env, stdio: "pipe" });
    return join(dir, "dist/cli/main.js");
  }

  remove(): void {
    rmSync(this.#place, { recursive: true, force: true });
  }
}
