/** A kind of agent behind a bridge: plain ACP in a child process, or one of our own in this process. */
import type { Transport } from "../transport/transport.ts";

export interface BackendExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last lines of the agent's stderr, for the error its callers get (S8). */
  readonly stderrTail: string;
  /** Set when the agent could not be started at all. */
  readonly error?: Error;
}

export interface Backend {
  /** What people call it: the profile, or the command's base name. */
  readonly name: string;
  /** True for an agent in this process that wants `initialize` again when the merged capabilities change (I3). */
  readonly seesCapabilitiesLive: boolean;
  /** Starts the agent and gives the channel that speaks ACP with it. Never throws for a bad command: `exited` tells. */
  start(): Transport;
  /** Resolves when the agent has ended, however it did. */
  readonly exited: Promise<BackendExit>;
  /** Ends it: EOF, then TERM, then KILL to its process group, each bounded (T3). Resolves when it is gone. */
  stop(): Promise<void>;
}
