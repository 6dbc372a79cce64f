// Children of a benchmark: their lines, their ends, what runs below them. A child that ends when it should not fails the run.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
export const AGENT = here("./burst-agent.mjs");
export const RELAY = here("./relay.mjs");
/** `HUB_BUILD_DIR`: a build beside the usual one. */
export const MAIN = join(process.env.HUB_BUILD_DIR ?? here("../../../dist"), "cli/main.js");

export function lines(child, onLine) {
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk) => {
    const all = (rest + chunk).split("\n");
    rest = all.pop() ?? "";
    for (const line of all) onLine(line);
  });
}

const running = new Set();
const homes = new Set();

export const start = (node, args, options = {}) =>
  endWithRun(spawn(node, args, { stdio: ["pipe", "pipe", "inherit"], ...options }));

/** A child that must not outlive the run. */
export function endWithRun(child) {
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/** A directory for one hub. */
export function makeHome() {
  const home = mkdtempSync(join(tmpdir(), "acp-hub-bench-"));
  homes.add(home);
  return home;
}

export function removeHome(home) {
  homes.delete(home);
  rmSync(home, { recursive: true, force: true });
}

/** However the run ends, nothing of it is left. */
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

/** Resolves with what `read` makes of a line, once it makes something of one. */
export function said(child, read, what) {
  return new Promise((resolve, reject) => {
    // Not at its exit: what it said last may still be on its way.
    child.once("close", (code) => reject(new Error(`${what} ended with ${code}`)));
    lines(child, (line) => {
      const value = read(line);
      if (value !== undefined) resolve(value);
    });
  });
}

export const ended = (child) =>
  new Promise((resolve) =>
    child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve(),
  );

export const childrenOf = (pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
