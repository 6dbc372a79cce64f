/** The built command line as child processes, each in a home of its own: what a user runs. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ndjsonTransport } from "../../src/transport/ndjson.ts";
import { isRunning } from "./processes.ts";
import { RawClient } from "./raw-client.ts";

/** `HUB_BUILD_DIR`: a build beside the usual one. */
const BUILD = process.env["HUB_BUILD_DIR"] ?? fileURLToPath(new URL("../../dist", import.meta.url));
const MAIN = join(BUILD, "cli/main.js");
export const SCRIPTED_AGENT: string = fileURLToPath(new URL("./scripted-agent.mjs", import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A home directory, and every process started in it. */
export class Home {
  readonly dir: string = mkdtempSync(join(tmpdir(), "acp-hub-e2e-"));
  readonly #children: ChildProcess[] = [];
  readonly #hubPids: number[] = [];

  constructor() {
    if (!existsSync(MAIN)) throw new Error("dist/ is not built: npm run build");
  }

  env(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
    const { ACP_HUB_HOME: _home, ...env } = process.env;
    return { ...env, ACP_HUB_HOME: this.dir, HOME: this.dir, ...extra };
  }

  /** What runs the built command line, as a shell would be given it. */
  commandLine(args: readonly string[]): string[] {
    return [process.execPath, MAIN, ...args];
  }

  spawn(args: readonly string[], extra: Record<string, string> = {}): ChildProcess {
    return this.spawnCommand(process.execPath, [MAIN, ...args], extra);
  }

  /** Any command in this home. */
  spawnCommand(command: string, args: readonly string[], extra: Record<string, string> = {}): ChildProcess {
    const child = spawn(command, args, { env: this.env(extra), stdio: ["pipe", "pipe", "pipe"] });
    this.#children.push(child);
    return child;
  }

  /** Runs a command to its end. */
  run(args: readonly string[], extra: Record<string, string> = {}, input?: string): Promise<Finished> {
    const child = this.spawn(args, extra);
    child.stdin?.end(input ?? "");
    return finished(child);
  }

  /** Starts `serve` on a free port; resolves when it says that it listens. `main`: of another build. */
  async serve(
    args: readonly string[] = [],
    main: string = MAIN,
    env: Record<string, string> = {},
  ): Promise<{ url: string; port: number; child: ChildProcess; output: () => string }> {
    const child = this.spawnCommand(process.execPath, [main, "serve", "--port", "0", ...args], env);
    let text = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
    });
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
        const match = /acp-hub listening on (https?:\/\/\S+)/.exec(text);
        if (match?.[1] !== undefined) resolve(match[1]);
      });
      child.once("exit", (code) => reject(new Error(`serve ended with ${code}: ${text}`)));
    });
    return { url, port: Number(new URL(url).port), child, output: () => text };
  }

  /** Starts `bridge` as an editor would. Without `autostart` it never starts a hub of its own. */
  bridge(
    args: readonly string[],
    options: { env?: Record<string, string>; isAutostart?: boolean; main?: string } = {},
  ): { editor: RawClient; child: ChildProcess } {
    const quiet: Record<string, string> = options.isAutostart === true ? {} : { ACP_HUB_NO_AUTOSTART: "1" };
    const words = [options.main ?? MAIN, "bridge", ...args];
    const child = this.spawnCommand(process.execPath, words, { ...quiet, ...options.env });
    if (child.stdout === null || child.stdin === null) throw new Error("the bridge has no pipes");
    child.stderr?.resume();
    return { editor: new RawClient(ndjsonTransport(child.stdout, child.stdin)), child };
  }

  async token(preset: string, name: string = preset): Promise<string> {
    const { stdout, stderr, code } = await this.run(["token", "create", "--scope", preset, "--name", name]);
    if (code !== 0) throw new Error(`token create: ${stderr}`);
    return stdout.trim();
  }

  /** A hub that a bridge started: ended with the home. */
  adoptHub(pid: number): void {
    this.#hubPids.push(pid);
  }

  /** Ends everything it started, by pid, and removes the home. */
  async remove(): Promise<void> {
    for (const child of this.#children) if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    for (const pid of this.#hubPids) if (isRunning(pid)) process.kill(pid, "SIGTERM");
    await Promise.all(this.#children.map(ended));
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), 8000);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export function finished(child: ChildProcess): Promise<Finished> {
  return new Promise((resolve) => {
    let stdout = "";
    let stderr = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      stdout += chunk.toString("utf8");
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk.toString("utf8");
    });
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
