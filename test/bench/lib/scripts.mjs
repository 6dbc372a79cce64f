// Runs a measurement that is a program of its own, and reads what it prints.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { endWithRun, makeHome, removeHome } from "./processes.mjs";

const run = promisify(execFile);

/** `name`: a file beside this one. Its exit code is not looked at: the figures say what is missed. */
export async function figuresOf(name, args = [], node = process.execPath) {
  const file = fileURLToPath(new URL(`./${name}`, import.meta.url));
  // What it leaves when it is killed lies there.
  const home = makeHome();
  const env = { ...process.env, TMPDIR: home };
  const running = run(node, [file, ...args], { env, maxBuffer: 16_777_216 });
  endWithRun(running.child);
  const { stdout } = await running.catch((error) => {
    if (typeof error.stdout === "string" && error.stdout.startsWith("{")) return error;
    throw error;
  });
  removeHome(home);
  return JSON.parse(stdout);
}
