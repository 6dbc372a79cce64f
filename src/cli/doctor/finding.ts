/** What a check says: one sentence, and what to do where something is to be done. */

export type Level = "ok" | "warn" | "fail";

export interface Finding {
  /** Which check; stable, for scripts. */
  readonly id: string;
  readonly level: Level;
  readonly text: string;
  readonly fix?: string;
}

export interface Check<Context> {
  readonly id: string;
  /** Its findings without the id, which the runner puts in. May reject: that is a finding too. */
  run(context: Context): Promise<readonly Omit<Finding, "id">[]>;
}

export const ok = (text: string): Omit<Finding, "id"> => ({ level: "ok", text });
export const warn = (text: string, fix: string): Omit<Finding, "id"> => ({ level: "warn", text, fix });
export const fail = (text: string, fix: string): Omit<Finding, "id"> => ({ level: "fail", text, fix });
