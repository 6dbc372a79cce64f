/** Whether there is room for the journal. */
import { statfs } from "node:fs/promises";
import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok, warn } from "../finding.ts";

const MIB = 1_048_576;
const FEW = 1024 * MIB;
const NONE = 64 * MIB;

export const disk: Check<DoctorContext> = {
  id: "disk",
  async run({ paths }) {
    const info = await statfs(paths.dataDir).catch(() => undefined);
    if (info === undefined) return [ok("the data directory is not there yet")];
    const free = info.bavail * info.bsize;
    const text = `${Math.floor(free / MIB)} MiB are free where the history is kept`;
    const fix = "free some space, or lower journal.maxBytes";
    if (free < NONE) return [fail(text, fix)];
    return [free < FEW ? warn(text, fix) : ok(text)];
  },
};
