/** What the tests have to know of one real agent: how it is started offline, how its model asks for a shell command, what it can. */
import type { Step } from "../../support/fake-model/script.ts";

/** Where one test runs: nothing of it is shared with another test. */
export interface Place {
  /** The agent's HOME; XDG directories lie below it. */
  readonly home: string;
  /** The session's working directory. */
  readonly cwd: string;
  /** The fake model, without a path. */
  readonly modelUrl: string;
}

export interface AgentRow {
  readonly name: string;
  readonly args: readonly string[];
  /** Writes the agent's configuration into the place; returns what its environment has beyond the common part. */
  configure(place: Place): Record<string, string>;
  /** The model's call of the agent's shell tool. */
  shell(command: string): Step;
  /** The model's call of the tool that writes a file. */
  write(path: string, content: string): Step;
  /** The model's call of a tool that asks the person to choose, where the agent makes a form of it. */
  form?(question: string, choices: readonly string[]): Step;
  /** The mode in which a shell command is asked about; undefined: it is the first one. */
  readonly askMode?: string;
  /** A mode a session does not start in. */
  readonly otherMode: string;
  readonly canFork: boolean;
  /** Where it keeps conversations, and how the answer `text` stands there. What is not there yet may be lost at its end. */
  readonly keeps: { readonly folder: string; as(text: string): string };
  /** It answers a load before it has replayed the history: what follows looks like news to everyone (B2). */
  readonly repliesBeforeReplay: boolean;
  /** Between two runs in one place: makes the first one look older than it is, where the agent cannot do without. */
  age?(place: Place): void;
  /** It replays the history of a fork under the new id, before its response. */
  readonly replaysForks: boolean;
}
