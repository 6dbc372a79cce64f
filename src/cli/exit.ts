/** Exit codes (contract §1) and the errors that carry them. */

export const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 3 } as const;

/** A wrong command line or configuration: says what is wrong and how to fix it. */
export class UsageError extends Error {
  readonly exitCode: number = EXIT.usage;
}

/** No hub answers. */
export class UnreachableError extends Error {
  readonly exitCode: number = EXIT.unreachable;
}

export function exitCodeOf(error: unknown): number {
  return error instanceof UsageError || error instanceof UnreachableError ? error.exitCode : EXIT.failed;
}
