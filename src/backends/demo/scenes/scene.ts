import type { Turn } from "../turn.ts";

/** One thing the demo agent can do. */
export interface Scene {
  /** Also its slash command. */
  readonly name: string;
  /** Words in a prompt that pick it. */
  readonly words: readonly string[];
  readonly help: string;
  play(turn: Turn): Promise<void>;
}
