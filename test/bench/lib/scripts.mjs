// Runs a measurement that is a program of its own, and reads what it prints.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** `name`: a file beside this one. Its exit code is not looked at: the figures say what is missed. */
export async function figuresOf(name, args = [], node = process.execPath) {
  const file = fileURLToPath(new URL(`./${name}`, import.meta.url));
  const { stdout } = await run(node, [file, ...args], { maxBuffer: 16_777_216 }).catch((error) => {
    if (typeof error.stdout === "string" && error.stdout.startsWith("{")) return error;
    throw error;
  });
  return JSON.parse(stdout);
}
