/** The launchd agent: the template of `deploy/` with our command, PATH and log file in it. */
import type { ServicePlan } from "./plan.ts";

export const LABEL = "com.acp-hub.hub";

const CONTROL = /\p{Cc}/u;

function xml(text: string): string {
  if (CONTROL.test(text)) throw new Error("A path with a control character cannot stand in a launchd agent");
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

export function renderPlist(template: string, plan: ServicePlan): string {
  const words = [plan.node, plan.script, ...plan.args].map((word) => `    <string>${xml(word)}</string>`).join("\n");
  let text = replaced(
    template,
    /(<key>ProgramArguments<\/key>\s*<array>)[\s\S]*?(\s*<\/array>)/,
    (open, close) => `${open}\n${words}${close}`,
  );
  text = replaced(
    text,
    /(<key>PATH<\/key>\s*<string>)[^<]*(<\/string>)/,
    (open, close) => open + xml(plan.path) + close,
  );
  for (const key of ["StandardOutPath", "StandardErrorPath"]) {
    const line = new RegExp(`(<key>${key}</key>\\s*<string>)[^<]*(</string>)`);
    text = replaced(text, line, (open, close) => open + xml(plan.logFile) + close);
  }
  return text;
}

function replaced(text: string, what: RegExp, by: (open: string, close: string) => string): string {
  if (!what.test(text)) throw new Error("The launchd template lacks a part it must have");
  return text.replace(what, (_match, open: string, close: string) => by(open, close));
}
