/** What systemd and launchd have in common, as far as one service needs it. */
import type { ServicePlan } from "./plan.ts";

export interface ServiceStatus {
  readonly isInstalled: boolean;
  readonly isRunning: boolean;
  readonly pid?: number;
  /** The supervisor's own word for it. */
  readonly detail: string;
}

export interface Supervisor {
  readonly name: "systemd" | "launchd";
  /** The file that makes the service: absolute. */
  readonly file: string;
  /** Directories that are removed with it when nothing else is in them, inner first. */
  readonly dirs: readonly string[];
  /** What people read when it does not start. */
  logHint(plan: ServicePlan): string;
  /** Undefined when it can be used, else why not and what to do. */
  unavailable(): Promise<string | undefined>;
  render(plan: ServicePlan): string;
  /** After the file was written: it starts now and at every login. Rejects with the supervisor's words. */
  start(): Promise<void>;
  /** Before the file goes away: it stops and starts no more. A service that is not there is no error. */
  stop(): Promise<void>;
  /** After the file went away. */
  forget(): Promise<void>;
  status(): Promise<ServiceStatus>;
  /** Things the person should know. */
  advice(): Promise<readonly string[]>;
}
