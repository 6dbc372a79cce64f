/** What routes need, by name. */
import type { Requirement } from "../../protocol/scopes.ts";

export const READ: { config: { needs: Requirement } } = { config: { needs: [["sessions:read"]] } };
export const ANSWER: { config: { needs: Requirement } } = { config: { needs: [["interactions:answer"]] } };
export const PROMPT: { config: { needs: Requirement } } = { config: { needs: [["sessions:prompt"]] } };
export const FILES: { config: { needs: Requirement } } = { config: { needs: [["files:read"]] } };
export const CREATE: { config: { needs: Requirement } } = { config: { needs: [["instances:create"]] } };
export const ADMIN: { config: { needs: Requirement } } = { config: { needs: [["admin"]] } };
/** Any credential at all. */
export const ANY: { config: { needs: Requirement } } = { config: { needs: [[]] } };
