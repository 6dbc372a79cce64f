/** Runs a tool of the system to its end, within a limit. */
import { execFile } from "node:child_process";

export interface ToolResult {
  /** 127 when the tool is not there; -1 when it was ended by the limit. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunTool = (command: string, args: readonly string[]) => Promise<ToolResult>;

const LIMIT_MS = 20_000;

/** With `env` as its environment; never rejects. */
export const toolRunner =
  (env: NodeJS.ProcessEnv): RunTool =>
  (command, args) =>
    new Promise((resolve) => {
      execFile(command, [...args], { env, timeout: LIMIT_MS, maxBuffer: 1_048_576 }, (error, stdout, stderr) => {
        const code =
          error === null ? 0 : typeof error.code === "number" ? error.code : error.code === "ENOENT" ? 127 : -1;
        resolve({ code, stdout, stderr });
      });
    });

/** The tool's last words, for an error message. */
export const lastWords = ({ stdout, stderr, code }: ToolResult): string =>
  (stderr.trim() || stdout.trim() || `exit code ${code}`).split("\n").slice(-3).join(" ");
