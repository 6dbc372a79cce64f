/** WebSocket close codes with their retry policy. Clients ask this table, never a list of numbers of their own. */

/** `resume`: dial again and resume by cursor. `wait`: the same, later. `stop`: a person has to act first. */
export type RetryPolicy = "resume" | "wait" | "stop";

export interface CloseCode {
  readonly code: number;
  readonly name: string;
  readonly retry: RetryPolicy;
  /** What a person is told. */
  readonly meaning: string;
}

const entry = (code: number, name: string, retry: RetryPolicy, meaning: string): CloseCode => ({
  code,
  name,
  retry,
  meaning,
});

export type CloseName =
  | "normal"
  | "goingAway"
  | "protocol"
  | "tooBig"
  | "slow"
  | "revoked"
  | "instanceGone"
  | "tooMany";

export const CLOSE: Readonly<Record<CloseName, CloseCode>> = {
  normal: entry(1000, "normal", "stop", "closed on purpose"),
  goingAway: entry(1001, "going-away", "resume", "the hub is restarting"),
  protocol: entry(1008, "protocol", "stop", "the client broke the protocol"),
  tooBig: entry(1009, "too-big", "stop", "a message was larger than the hub takes"),
  slow: entry(1013, "slow", "resume", "the client read too slowly"),
  revoked: entry(4401, "revoked", "stop", "this device was revoked or its credential ended: pair again"),
  instanceGone: entry(4404, "instance-gone", "stop", "the session's bridge has ended"),
  tooMany: entry(4429, "too-many", "wait", "too many connections"),
};

const byCode = new Map<number, CloseCode>(Object.values(CLOSE).map((close) => [close.code, close]));

/** What to do after a close. Unknown codes (a proxy's, 1006) resume: only our own table says stop. */
export function retryPolicy(code: number): RetryPolicy {
  return byCode.get(code)?.retry ?? "resume";
}

/** Its name in our table; `lost` for an end without a goodbye, `other` for a client's own code. */
export function closeName(code: number): string {
  return byCode.get(code)?.name ?? (code === 1006 ? "lost" : "other");
}
