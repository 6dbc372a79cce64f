/** What a command is: a line of help, and a `run` that resolves to the exit code. */
export interface Command {
  readonly usage: string;
  run(args: readonly string[]): Promise<number>;
}
