/** Runs a command of the command line in this process and keeps what it prints. One at a time: the streams are the process's. */
import { COMMANDS } from "../../src/cli/commands.ts";
import { exitCodeOf } from "../../src/cli/exit.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runCommand(name: string, args: readonly string[]): Promise<Ran> {
  const entry = COMMANDS.get(name);
  if (entry === undefined) throw new Error(`there is no command ${name}`);
  const { command } = await entry.load();
  const printed = { stdout: "", stderr: "" };
  const restore = (["stdout", "stderr"] as const).map((name) => {
    const stream = process[name];
    const { write } = stream;
    stream.write = (text: string | Uint8Array): boolean => {
      printed[name] += String(text);
      return true;
    };
    return () => {
      stream.write = write;
    };
  });
  try {
    const code = await command.run(args).catch((error: unknown) => {
      printed.stderr += error instanceof Error ? error.message : String(error);
      return exitCodeOf(error);
    });
    return { code, ...printed };
  } finally {
    for (const undo of restore) undo();
  }
}
