/** How long to wait before dialling again. */

export const BACKOFF_FIRST_MS = 1000;
export const BACKOFF_MAX_MS = 30_000;

/** Half fixed, half chance, so that the clients of a restarted hub do not come back in step. `attempt` counts from 0. */
export function backoffMs(attempt: number, random: number): number {
  const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** Math.min(attempt, 16));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}
