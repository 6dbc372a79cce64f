/** What the supervisor is to run: absolute, with the PATH of the person who installs it (a supervisor's own is nearly empty). */
import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";

export interface ServicePlan {
  readonly node: string;
  readonly script: string;
  /** After the script: `serve --supervised`, and `--home` where one was named. */
  readonly args: readonly string[];
  readonly path: string;
  /** What the supervisor's side of standard output goes to. */
  readonly logFile: string;
}

export interface PlanInput {
  readonly node: string;
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string | undefined;
  readonly logDir: string;
}

export function planService({ node, script, env, home, logDir }: PlanInput): ServicePlan {
  return {
    node,
    script,
    args: ["serve", "--supervised", ...(home === undefined ? [] : ["--home", home])],
    path: servicePath(env["PATH"] ?? ""),
    logFile: join(logDir, "service.log"),
  };
}

/** Without what is of this shell only: relative parts, and the directories npm and npx put in front. */
function servicePath(path: string): string {
  const parts = path.split(delimiter).filter((part) => isAbsolute(part) && !isNpmDetail(part));
  return [...new Set([...parts, "/usr/local/bin", "/usr/bin", "/bin"])].join(delimiter);
}

const isNpmDetail = (part: string): boolean =>
  part.includes(`${sep}node_modules${sep}.bin`) || part.includes("node-gyp-bin") || part.includes(`${sep}_npx${sep}`);

/** What will break later, in words; empty when nothing will. */
export function planWarnings(plan: ServicePlan, env: NodeJS.ProcessEnv): string[] {
  const warnings: string[] = [];
  if (plan.script.includes(`${sep}_npx${sep}`))
    warnings.push("acp-hub runs from npx's cache, which npm may empty: install it with npm install -g acp-hub");
  if (!existsSync(plan.script)) warnings.push(`${plan.script} is not there`);
  const ignored = Object.keys(env).filter((name) => name.startsWith("ACP_HUB_") && name !== "ACP_HUB_HOME");
  if (ignored.length > 0)
    warnings.push(`The service does not see ${ignored.join(", ")} of this shell: put it into the configuration file`);
  return warnings;
}
