/** The initialize exchange: what this agent can do, and what its one client (the merged view of many) can show. */
import { ACP_VERSION } from "../../../protocol/acp.ts";
import type { JsonObject } from "../../../protocol/json.ts";
import { objectAt } from "../../../protocol/json.ts";

export interface ClientAbilities {
  readonly hasForms: boolean;
  /** Shows terminal output from `_meta.terminal_output`. */
  readonly hasTerminal: boolean;
}

export const NO_ABILITIES: ClientAbilities = { hasForms: false, hasTerminal: false };

export const EXTENSIONS: readonly string[] = [
  "session/load_earlier",
  "session/goal",
  "session/compact",
  "session/steer",
  "session/setMode",
  "session/setModel",
  "session/setThoughtLevel",
  "session/cancelBackgroundTask",
  "session/rewind",
  "session/rewindCascade",
];

/** Reads the client's capabilities. The last initialize counts. */
export function readAbilities(params: JsonObject): ClientAbilities {
  const capabilities = objectAt(params, "clientCapabilities");
  return {
    hasForms: objectAt(objectAt(capabilities, "elicitation"), "form") !== undefined,
    hasTerminal: objectAt(capabilities, "_meta")?.["terminal_output"] === true,
  };
}

/** The result of initialize. `version` is this bridge's own. */
export const initializeResult = (version: string): JsonObject => ({
  protocolVersion: ACP_VERSION,
  agentInfo: { name: "zcode", title: "ZCode", version },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: { list: {}, resume: {}, close: {}, fork: {} },
    _meta: { zcode: { extensions: [...EXTENSIONS] } },
  },
  authMethods: [],
});
