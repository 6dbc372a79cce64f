/** What went over client sockets since the hub started: those that are open, and those that were. */

export interface Traffic {
  /** Bytes the kernel took and gave. */
  readonly sent: number;
  readonly received: number;
  /** Times a reader that had been live was served from the journal. */
  readonly catchUps: number;
  /** Times such a reader got its updates joined, and was told so. */
  readonly gaps: number;
}

export const NO_TRAFFIC: Traffic = { sent: 0, received: 0, catchUps: 0, gaps: 0 };

export const addTraffic = (a: Traffic, b: Traffic): Traffic => ({
  sent: a.sent + b.sent,
  received: a.received + b.received,
  catchUps: a.catchUps + b.catchUps,
  gaps: a.gaps + b.gaps,
});
