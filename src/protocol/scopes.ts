/** Rights in a credential, the presets people choose from, and what each ACP method needs (contract §2). */
import { ACP } from "./acp.ts";

export const SCOPES = [
  "sessions:read",
  "interactions:answer",
  "sessions:prompt",
  "files:read",
  "instances:create",
  "admin",
] as const;
export type Scope = (typeof SCOPES)[number];

export type Preset = "viewer" | "approver" | "driver" | "owner";

export const PRESETS: Readonly<Record<Preset, readonly Scope[]>> = {
  viewer: ["sessions:read"],
  approver: ["sessions:read", "interactions:answer"],
  driver: ["sessions:read", "interactions:answer", "sessions:prompt", "files:read"],
  owner: [...SCOPES],
};

export const isScope = (value: string): value is Scope => (SCOPES as readonly string[]).includes(value);
export const isPreset = (value: string): value is Preset => Object.hasOwn(PRESETS, value);

/** One way to be allowed: all of these scopes. A requirement is met by any one of its ways. */
export type Requirement = readonly (readonly Scope[])[];

const READ: Requirement = [["sessions:read"]];
const PROMPT: Requirement = [["sessions:prompt"]];
const PROMPT_AND_ANSWER: Requirement = [["sessions:prompt", "interactions:answer"]];
const ANSWER_OR_PROMPT: Requirement = [["interactions:answer"], ["sessions:prompt"]];
const ADMIN: Requirement = [["admin"]];

const REQUIREMENTS = new Map<string, Requirement>([
  [ACP.initialize, READ],
  [ACP.sessionList, READ],
  [ACP.sessionStatus, READ],
  // load, resume and close that reach the agent need prompt as well: the mirror asks again when it forwards them.
  [ACP.sessionLoad, READ],
  [ACP.sessionResume, READ],
  [ACP.sessionClose, READ],
  ["session/attach", READ],
  ["session/detach", READ],
  ["session/load_earlier", READ],
  ["_acp-hub/load_earlier", READ],
  ["_acp-hub/queue/list", READ],
  [ACP.cancelRequest, READ],
  [ACP.sessionCancel, ANSWER_OR_PROMPT],
  // These can switch approvals off.
  [ACP.sessionSetMode, PROMPT_AND_ANSWER],
  [ACP.sessionSetConfigOption, PROMPT_AND_ANSWER],
  [ACP.sessionSetModel, PROMPT_AND_ANSWER],
  [ACP.authenticate, ADMIN],
  [ACP.logout, ADMIN],
  [ACP.sessionDelete, ADMIN],
  ["session/archive", ADMIN],
  ["session/unarchive", ADMIN],
]);

/**
 * The ACP name behind a name an agent gives the same thing: a vendor's prefix in front (`_zcode/session/set_mode`), camel case
 * (`session/setMode`). The name itself when it stands for nothing else.
 */
export function standardName(method: string): string {
  const bare = /^_[^/]+\/(.+)$/.exec(method)?.[1] ?? method;
  return bare.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * What `method` needs from a remote connection. Unknown methods need `sessions:prompt`, those under another name for something
 * that takes more need that; `providers/*` needs `admin`.
 */
export function requirementOf(method: string): Requirement {
  const known = REQUIREMENTS.get(method);
  if (known !== undefined) return known;
  const name = standardName(method);
  if (name.startsWith("providers/")) return ADMIN;
  const meant = REQUIREMENTS.get(name);
  return meant === PROMPT_AND_ANSWER || meant === ADMIN ? meant : PROMPT;
}

/** True when `scopes` meet one of the requirement's ways. */
export function meets(scopes: ReadonlySet<Scope>, requirement: Requirement): boolean {
  return requirement.some((way) => way.every((scope) => scopes.has(scope)));
}

/** The scopes a refusal names: those of the requirement's first way. */
export function missingScopes(scopes: ReadonlySet<Scope>, requirement: Requirement): Scope[] {
  return (requirement[0] ?? []).filter((scope) => !scopes.has(scope));
}
