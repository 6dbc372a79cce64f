/** Whether this Node runs us, and which SQLite it brings. */

import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok, warn } from "../finding.ts";

const NEEDED = [20, 19] as const;
/** From here on SQLite is built in and needs no package. */
const WITH_SQLITE = [22, 13] as const;

const isAtLeast = (version: string, [major, minor]: readonly [number, number]): boolean => {
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
};

export const nodeVersion: Check<DoctorContext> = {
  id: "node",
  run: ({ nodeVersion: version }) => {
    if (!isAtLeast(version, NEEDED))
      return Promise.resolve([fail(`Node ${version} is too old`, `install Node ${NEEDED.join(".")} or later`)]);
    if (isAtLeast(version, WITH_SQLITE)) return Promise.resolve([ok(`Node ${version}, with SQLite built in`)]);
    const text = `Node ${version} has no SQLite built in: the package better-sqlite3 is used`;
    return Promise.resolve([warn(text, "install Node 24: nothing has to be compiled then")]);
  },
};
