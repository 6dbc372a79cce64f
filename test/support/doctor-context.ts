/** A healthy machine as the doctor sees it, on a home of its own; tests break one thing at a time. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DoctorContext } from "../../src/cli/doctor/context.ts";
import type { Check, Finding } from "../../src/cli/doctor/finding.ts";
import { type Config, DEFAULT_CONFIG } from "../../src/config/config.ts";
import { makePrivateDir, resolvePaths } from "../../src/config/paths.ts";

export interface DoctorMachine {
  readonly root: string;
  readonly context: DoctorContext;
  /** The context with some of it replaced. */
  with(over: Partial<Omit<DoctorContext, "configuration">> & { config?: Partial<Config> }): DoctorContext;
  remove(): void;
}

export function doctorMachine(): DoctorMachine {
  const root = mkdtempSync(join(tmpdir(), "acp-hub-doctor-"));
  const paths = resolvePaths(join(root, "home"));
  for (const dir of [paths.dataDir, paths.runDir, paths.keysDir, paths.logDir]) makePrivateDir(dir);
  const context: DoctorContext = {
    paths,
    env: { PATH: process.env["PATH"] ?? "", HOME: join(root, "user") },
    platform: "linux",
    home: join(root, "user"),
    version: "0.1.0",
    nodeVersion: "24.1.0",
    now: Date.now,
    configuration: { config: DEFAULT_CONFIG, warnings: [], problems: [] },
    info: undefined,
    hub: undefined,
    discovery: undefined,
    storage: undefined,
  };
  return {
    root,
    context,
    with: ({ config, ...over }) => ({
      ...context,
      ...over,
      configuration: { config: { ...DEFAULT_CONFIG, ...config }, warnings: [], problems: [] },
    }),
    remove: () => rmSync(root, { recursive: true }),
  };
}

/** A check's findings as `level text`, and what is to be done. */
export async function examine(check: Check<DoctorContext>, context: DoctorContext): Promise<string[]> {
  const findings: readonly Omit<Finding, "id">[] = await check.run(context);
  return findings.map(({ level, text, fix }) => `${level} ${text}${fix === undefined ? "" : ` -> ${fix}`}`);
}
