/** `acp-hub doctor`: looks at everything that goes wrong in practice, and says what to do. Exit 1 when something fails. */
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { diagnose } from "./doctor/diagnose.ts";
import type { Finding } from "./doctor/finding.ts";
import { hasFailed } from "./doctor/runner.ts";
import { EXIT } from "./exit.ts";
import { homePaths } from "./home.ts";

const USAGE = "acp-hub doctor [--json] [--home DIR]";

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values } = readArgs(argv, { json: { type: "boolean" }, home: { type: "string" } } as const, USAGE, 0);
    const paths = homePaths(values.home);
    const findings = await diagnose({ paths, env: process.env });
    process.stdout.write(values.json === true ? `${JSON.stringify(findings, null, 2)}\n` : reportOf(findings));
    return hasFailed(findings) ? EXIT.failed : EXIT.ok;
  },
};

export function reportOf(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ id }) => id.length));
  const lines = findings.map(({ id, level, text, fix }) => {
    const line = `${level.padEnd(4)}  ${id.padEnd(width)}  ${text}`;
    return fix === undefined ? line : `${line}\n${" ".repeat(width + 8)}to do: ${fix}`;
  });
  const count = (level: Finding["level"]): number => findings.filter((finding) => finding.level === level).length;
  return `${lines.join("\n")}\n\n${count("ok")} ok, ${count("warn")} to look at, ${count("fail")} failed\n`;
}
