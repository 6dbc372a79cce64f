/** Default limits (contract §6). Every one can be configured; sizes in bytes, times in milliseconds. */
export const LIMITS = {
  remoteFrameBytes: 16_777_216,
  agentLineBytes: 67_108_864,
  bodyBytes: 1_048_576,
  connectionsPerDevice: 256,
  connectionsMax: 2048,
  outboxSoftBytes: 4_194_304,
  outboxHardBytes: 33_554_432,
  outboxStallMs: 60_000,
  journalBytes: 67_108_864,
  initializeMs: 10_000,
  lanePromptsMax: 32,
  pingMs: 30_000,
  settledKept: 256,
  heldUpdatesMax: 1000,
  heldUpdatesMs: 5000,
  headlessMax: 16,
} as const;
