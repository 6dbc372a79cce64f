/** The systemd user unit: the template of `deploy/` with our command and PATH in it. */
import type { ServicePlan } from "./plan.ts";

export const UNIT = "acp-hub.service";
const EXEC_LINE = /^ExecStart=.*$/m;

/** One word of a unit's value: `%` and `$` are systemd's own, quotes and backslashes are escaped. */
export function unitWord(text: string, isCommand: boolean): string {
  if (/[\n\r]/.test(text)) throw new Error("A path with a line break cannot stand in a systemd unit");
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%");
  return `"${isCommand ? escaped.replaceAll("$", "$$$$") : escaped}"`;
}

export function renderUnit(template: string, plan: ServicePlan): string {
  if (!EXEC_LINE.test(template)) throw new Error("The unit template has no ExecStart line");
  const command = [plan.node, plan.script, ...plan.args].map((word) => unitWord(word, true)).join(" ");
  const lines = `ExecStart=${command}\nEnvironment=${unitWord(`PATH=${plan.path}`, false)}`;
  return template.replace(EXEC_LINE, () => lines);
}
