/** Whether this computer, its file system and the hub agree on the time: tokens live for minutes. */
import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DoctorContext } from "../context.ts";
import { type Check, type Finding, fail, ok, warn } from "../finding.ts";

/** Header and file times have whole seconds. */
const TOLERATED_MS = 3000;
const WRONG_MS = 60_000;
/** Nothing of ours is older. */
const BUILT = Date.UTC(2026, 0, 1);

export const clock: Check<DoctorContext> = {
  id: "clock",
  async run({ now, hub, paths }) {
    if (now() < BUILT)
      return [
        fail(`the clock says ${new Date(now()).toISOString()}`, "set the clock: no credential is valid in the past"),
      ];
    const found = [
      ...compare("the hub's clock", hub?.date ?? Number.NaN, now()),
      ...compare("the file system's clock", await fileTime(paths.runDir), now()),
    ];
    return found.length > 0 ? found : [ok("the clocks agree")];
  },
};

function compare(whose: string, other: number, own: number): Omit<Finding, "id">[] {
  const off = Math.abs(other - own);
  if (Number.isNaN(off) || off <= TOLERATED_MS) return [];
  const text = `${whose} is ${Math.round(off / 1000)} s ${other > own ? "ahead" : "behind"}`;
  const fix = "let the system set its time (NTP), then restart the hub";
  return [off > WRONG_MS ? fail(text, fix) : warn(text, fix)];
}

/** NaN where nothing can be written yet. */
async function fileTime(dir: string): Promise<number> {
  const file = join(dir, `.doctor-${process.pid}`);
  try {
    await writeFile(file, "", { mode: 0o600 });
    return (await stat(file)).mtimeMs;
  } catch {
    return Number.NaN;
  } finally {
    await rm(file, { force: true });
  }
}
