/** Starts a hub when none is there: detached, so that it outlives this bridge; a singleton, so that ten bridges start one. */
import { spawn } from "node:child_process";

export interface HubLauncher {
  /** Tries to start a hub; resolves when the attempt is made. Never rejects: a bridge without a hub is a bridge. */
  launch(): Promise<void>;
  /** A hub answers: the next one that is missing is started without delay. */
  onUp(): void;
}

/** At most one attempt in this time, twice as long after each: a hub that cannot start must not be started for ever. */
const BETWEEN_ATTEMPTS_MS = 5000;
const MAX_BETWEEN_MS = 60_000;

export interface LaunchCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export function hubLauncher(command: LaunchCommand, onError: (error: Error) => void): HubLauncher {
  let lastAttempt = Number.NEGATIVE_INFINITY;
  let betweenMs = 0;
  return {
    onUp() {
      betweenMs = Math.min(betweenMs, BETWEEN_ATTEMPTS_MS);
    },
    launch() {
      const now = performance.now();
      if (now - lastAttempt < betweenMs) return Promise.resolve();
      lastAttempt = now;
      betweenMs = betweenMs === 0 ? BETWEEN_ATTEMPTS_MS : Math.min(MAX_BETWEEN_MS, betweenMs * 2);
      return new Promise((resolve) => {
        try {
          const child = spawn(command.command, command.args, { detached: true, stdio: "ignore", env: command.env });
          child.once("error", (error) => {
            onError(error);
            resolve();
          });
          child.once("spawn", () => resolve());
          child.unref();
        } catch (error) {
          onError(error instanceof Error ? error : new Error("the hub could not be started"));
          resolve();
        }
      });
    },
  };
}
