/** Runs the checks side by side. One that fails or hangs is a finding of its own and costs the others nothing. */
import type { Check, Finding } from "./finding.ts";

export interface RunOptions {
  readonly redact: (text: string) => string;
  /** Only the checks with these ids; all when absent. */
  readonly only?: ReadonlySet<string> | undefined;
  readonly limitMs?: number;
}

const LIMIT_MS = 8000;

/** In the order of `checks`. Never rejects. */
export async function runChecks<Context>(
  checks: readonly Check<Context>[],
  context: Context,
  { redact, only, limitMs = LIMIT_MS }: RunOptions,
): Promise<Finding[]> {
  const due = checks.filter((check) => only === undefined || only.has(check.id));
  const findings = await Promise.all(due.map((check) => runOne(check, context, limitMs)));
  return findings.flat().map(({ text, fix, ...rest }) => ({
    ...rest,
    text: redact(text),
    ...(fix !== undefined && { fix: redact(fix) }),
  }));
}

async function runOne<Context>(check: Check<Context>, context: Context, limitMs: number): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    const found = await Promise.race([check.run(context), limit]);
    return found.map((finding) => ({ id: check.id, ...finding }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [
      { id: check.id, level: "warn", text: `this could not be checked: ${reason}`, fix: "run acp-hub doctor again" },
    ];
  } finally {
    clearTimeout(timer);
  }
}

export const hasFailed = (findings: readonly Finding[]): boolean => findings.some(({ level }) => level === "fail");
