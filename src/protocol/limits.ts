/** Default limits (contract §6). Every one can be configured; sizes in bytes, times in milliseconds. */
export const LIMITS = {
  remoteFrameBytes: 16 * 1024 * 1024,
  agentLineBytes: 64 * 1024 * 1024,
  bodyBytes: 1024 * 1024,
  connectionsPerDevice: 256,
  connectionsMax: 2048,
  outboxSoftBytes: 4 * 1024 * 1024,
  outboxHardBytes: 32 * 1024 * 1024,
  outboxStallMs: 60_000,
  journalBytes: 64 * 1024 * 1024,
  initializeMs: 10_000,
  lanePromptsMax: 32,
  pingMs: 30_000,
  settledKept: 256,
  heldUpdatesMax: 1000,
  heldUpdatesMs: 5000,
} as const;
