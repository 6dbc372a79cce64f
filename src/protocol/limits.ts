/** Default limits (contract §6). Every one can be configured; sizes in bytes, times in milliseconds. */
export const LIMITS = {
  remoteFrameBytes: 16_777_216,
  agentLineBytes: 67_108_864,
  bodyBytes: 1_048_576,
  connectionsPerDevice: 256,
  connectionsMax: 2048,
  pairingMs: 300_000,
  pairingWrongTriesMax: 10,
  failuresPerAddress: 10,
  failuresMs: 900_000,
  /** Unsent bytes above which updates wait for the socket, and come joined. Lower than contract §6: 4 MiB are half a minute of a slow phone. */
  outboxSoftBytes: 262_144,
  outboxHardBytes: 33_554_432,
  outboxStallMs: 60_000,
  journalBytes: 67_108_864,
  initializeMs: 10_000,
  lanePromptsMax: 32,
  pingMs: 30_000,
  headlessMax: 16,
} as const;

/** No longer line is read from anybody's pipe: it bounds memory against a stream that never ends its line. */
export const PIPE_LINE_BYTES = 268_435_456;
