/** How long a prompt's outcome answers a retry (P3). */
export const PROMPT_KEPT_MS = 86_400_000;
export const PROMPTS_PER_SESSION = 256;
