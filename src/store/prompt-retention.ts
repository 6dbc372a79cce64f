/**
 * How long a prompt's outcome answers a retry (P3): the day promised and a week on top, because a clock set ahead by up to a
 * week is taken for the time that passed (`hub/age-doubt.ts`), and must not make a retry run twice.
 */
export const PROMPT_KEPT_MS: number = 8 * 86_400_000;
export const PROMPTS_PER_SESSION = 256;
