/** Waits of the turn machinery in milliseconds. Each is a behaviour of the backend that was measured, not taste. */
export const TIMING = {
  /** Silence after which a running turn is looked into. */
  stallMs: 15_000,
  /** The two looks that must both see "idle" before a turn without a terminal event is over. */
  idleTwiceMs: 1_500,
  /** Silence after `prompt_completed` before the first look. */
  completedGraceMs: 2_000,
  /** How long `turn.terminal` waits for the completed or failed that usually comes with it. */
  terminalGraceMs: 500,
  /** A turn whose projection does not move, with no tool running, is given up after this. */
  freezeMs: 600_000,
  /** Signs of life are passed on no oftener than this. */
  progressEveryMs: 60_000,
  busyStepMs: 500,
  busyLimitMs: 30_000,
  /** While a notification turn holds the session. */
  busyBackgroundLimitMs: 180_000,
  /** After a cancel: how long the old turn may take to let go before the session is closed and resumed. */
  drainGraceMs: 5_000,
  drainLimitMs: 90_000,
  drainStepMs: 500,
  /** The reply of a turn may reach the store after the turn is idle. */
  replyTries: 4,
  replyStepMs: 400,
  /** Todos are written a little after the tool result that announces them. */
  planAgainMs: 600,
  modeAfterPlanMs: 1_000,
  thinkingHintMs: 1_200,
  compactLimitMs: 300_000,
  compactLookMs: 5_000,
  settleStepMs: 150,
  settleTries: 10,
  /** When commands are told: clients that still initialise drop the first. */
  commandsAtMs: [50, 300, 1_000] as const,
} as const;
