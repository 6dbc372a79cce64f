/**
 * T4: with a terminal on stdin the bridge is the agent itself. ACP terminal auth runs "the configured agent invocation" plus
 * arguments of its own, and that invocation is ours: the agent gets the terminal, and nothing else happens.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";

/** Runs the command with inherited stdio. Resolves to the exit code to pass on. */
export function runInTerminal(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "inherit", env, cwd });
    // The terminal signals the whole foreground group: the agent decides, we wait for it.
    const ignore = (): void => undefined;
    process.on("SIGINT", ignore);
    process.on("SIGQUIT", ignore);
    const done = (code: number): void => {
      process.removeListener("SIGINT", ignore);
      process.removeListener("SIGQUIT", ignore);
      resolve(code);
    };
    child.once("error", (error) => {
      process.stderr.write(`acp-hub: ${command}: ${error.message}\n`);
      done(127);
    });
    child.once("exit", (code, signal) => done(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
