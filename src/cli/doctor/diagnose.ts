/** The whole examination, for the command and for the hub's diagnostics route. */

import { CHECKS } from "./checks.ts";
import { type ContextInput, doctorContext } from "./context.ts";
import type { Finding } from "./finding.ts";
import { redactor } from "./redact.ts";
import { runChecks } from "./runner.ts";

/** Redacted, in the order they are printed. `only`: ids of checks. Never rejects. */
export async function diagnose(input: ContextInput, only?: ReadonlySet<string>): Promise<Finding[]> {
  const context = await doctorContext(input);
  return runChecks(CHECKS, context, { redact: redactor(input.env, context.home), only });
}
