/** Which home a command works on: the flag's, else the environment's, else the system's directories (contract §1). */
import { type Paths, resolvePaths } from "../config/paths.ts";

/** Undefined: nobody named one. */
export const namedHome = (flag: string | undefined): string | undefined => flag ?? process.env["ACP_HUB_HOME"];

export const homePaths = (flag: string | undefined): Paths => resolvePaths(namedHome(flag));
