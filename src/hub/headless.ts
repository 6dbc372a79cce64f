/**
 * Instances without an editor (contract §3): a bridge of this very installation, started in an allowed workspace with a profile of
 * the configuration or a built-in one. Off until `create.roots` is configured; nothing a client sends ever becomes part of a command.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { isInside } from "../bridge/host/inside.ts";
import type { Instance } from "./instance.ts";
import type { Registry } from "./registry.ts";

export interface HeadlessOptions {
  /** Absolute directories remote clients may open; empty: off. */
  readonly roots: readonly string[];
  /** Names of agents that may be started; the first is the default. */
  readonly profiles: readonly string[];
  /** How a bridge is started: this program's own node and script. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** So many of them run at a time: each is an agent of its own, with all it takes. */
  readonly max: number;
  readonly startMs?: number;
}

export type HeadlessRefusal = "off" | "outside" | "no-profile" | "too-many" | "timeout" | "not-headless" | "unknown";

export type HeadlessAnswer = { readonly id: string; readonly reused: boolean } | { readonly refusal: HeadlessRefusal };

const START_MS = 20_000;

export class HeadlessInstances {
  readonly #options: HeadlessOptions;
  readonly #registry: Registry;
  /** One start per workspace and profile at a time: two taps make one instance. */
  readonly #starting = new Map<string, Promise<HeadlessAnswer>>();

  constructor(registry: Registry, options: HeadlessOptions) {
    this.#registry = registry;
    this.#options = options;
  }

  async create(workspacePath: string, profile: string | undefined): Promise<HeadlessAnswer> {
    const { roots, profiles, max } = this.#options;
    if (roots.length === 0) return { refusal: "off" };
    const name = profile ?? profiles[0];
    if (name === undefined || !profiles.includes(name)) return { refusal: "no-profile" };
    const workspace = await allowedPath(workspacePath, roots);
    if (workspace === undefined) return { refusal: "outside" };
    const key = JSON.stringify([workspace, name]);
    // Before the limit and before what is linked: a second tap takes no second place, and is told of no agent that is not up yet.
    const already = this.#starting.get(key);
    if (already !== undefined) return already;
    const running = this.#find(workspace, name);
    if (running !== undefined) return { id: running.id, reused: true };
    const count = this.#registry.list().filter((each) => each.hello.origin === "headless").length;
    if (count + this.#starting.size >= max) return { refusal: "too-many" };
    const starting = this.#start(workspace, name).finally(() => this.#starting.delete(key));
    this.#starting.set(key, starting);
    return starting;
  }

  /** Ends a headless instance; an editor's is its editor's. */
  end(id: string): HeadlessRefusal | undefined {
    const instance = this.#registry.get(id);
    if (instance === undefined) return "unknown";
    if (instance.hello.origin !== "headless") return "not-headless";
    process.kill(instance.hello.pid, "SIGTERM");
    return undefined;
  }

  #find(workspace: string, name: string): Instance | undefined {
    return this.#registry
      .list()
      .find(({ hello }) => hello.origin === "headless" && hello.workspace === workspace && hello.name === name);
  }

  #start(workspace: string, profile: string): Promise<HeadlessAnswer> {
    const id = randomUUID();
    const { command, args, env, startMs } = this.#options;
    const child = spawn(command, [...args, "bridge", "--headless", "--cwd", workspace, "--name", profile, profile], {
      cwd: workspace,
      // It outlives a hub that restarts, and dials the next one.
      detached: true,
      stdio: "ignore",
      env: { ...env, ACP_HUB_INSTANCE_ID: id, ACP_HUB_NO_AUTOSTART: "1" },
    });
    child.unref();
    return new Promise((resolve) => {
      const finish = (answer: HeadlessAnswer): void => {
        clearInterval(look);
        clearTimeout(deadline);
        resolve(answer);
      };
      const look = setInterval(() => {
        if (this.#registry.get(id)?.mirror.agentInfo !== undefined) finish({ id, reused: false });
      }, 50);
      const deadline = setTimeout(() => {
        if (child.pid !== undefined && child.exitCode === null) child.kill("SIGTERM");
        finish({ refusal: "timeout" });
      }, startMs ?? START_MS);
      child.once("error", () => finish({ refusal: "timeout" }));
      child.once("exit", () => finish({ refusal: "timeout" }));
    });
  }
}

/** The real path, when it lies in one of the roots; symbolic links are followed first. */
async function allowedPath(path: string, roots: readonly string[]): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  for (const root of roots) {
    const realRoot = await realpath(root).catch(() => undefined);
    if (realRoot !== undefined && isInside(realRoot, real)) return real;
  }
  return undefined;
}
