#!/usr/bin/env node
/** The command line: finds the command and loads only that one, so that `bridge` starts as fast as its agent. */
import { COMMANDS } from "./commands.ts";

function help(): string {
  const lines = [...COMMANDS].map(([name, entry]) => `  ${name.padEnd(13)}${entry.summary}`);
  return `acp-hub: reach a running coding agent from anywhere\n\nUsage: acp-hub <command> [options]\n\n${lines.join("\n")}\n
acp-hub <command> --help shows a command's options. Data goes to stdout, words to stderr.\n`;
}

async function run(argv: readonly string[]): Promise<number> {
  const [name, ...args] = argv;
  if (name === "--version" || name === "-v") {
    const { VERSION } = await import("../protocol/version.ts");
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    (name === undefined ? process.stderr : process.stdout).write(help());
    return name === undefined ? 2 : 0;
  }
  const entry = COMMANDS.get(name);
  if (entry === undefined) {
    process.stderr.write(`acp-hub: there is no command "${name}"\n\n${help()}`);
    return 2;
  }
  const { command } = await entry.load();
  const end = args.indexOf("--");
  const own = end < 0 ? args : args.slice(0, end);
  if (own.includes("--help") || own.includes("-h")) {
    process.stdout.write(`Usage: ${command.usage}\n`);
    return 0;
  }
  return command.run(args);
}

async function fail(error: unknown): Promise<number> {
  const { exitCodeOf } = await import("./exit.ts");
  process.stderr.write(`acp-hub: ${error instanceof Error ? error.message : String(error)}\n`);
  return exitCodeOf(error);
}

/** A slow reader gets all of it. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableEnded || stream.writableLength === 0) return Promise.resolve();
  return new Promise((resolve) => stream.write("", () => resolve()));
}

const argv = process.argv.slice(2);
// A reader that closes our output early (`acp-hub ls | head`) is no fault. A bridge has an agent to end first (L1).
if (argv[0] !== "bridge") process.stdout.on("error", () => process.exit(0));
const code = await run(argv).catch(fail);
process.exitCode = code;
await Promise.all([written(process.stdout), written(process.stderr)]);
// What still holds the process (an idle socket) must not: everything has been closed by its owner.
setImmediate(() => process.exit(code));
