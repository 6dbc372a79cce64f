/**
 * Requests of the backend that are answered the moment they arrive, whatever else goes on: it waits for them inside
 * create, resume and send, where no turn exists yet. Unanswered, the first two cost 15 s and 180 s.
 */
import { type JsonObject, stringAt } from "../../../protocol/json.ts";
import type { ConfiguredProvider } from "../process/user-config.ts";

export type AutoAnswer =
  | { readonly result: JsonObject }
  | { readonly error: { readonly code: number; readonly message: string } };

export interface AutoAnswerInput {
  readonly nativeSearch: boolean;
  readonly memory: boolean;
  /** Providers of the user's configuration; read when asked, because it may change while we run. */
  providers(): readonly ConfiguredProvider[];
}

export const INTERACTIONS = {
  permission: "interaction/requestPermission",
  userInput: "interaction/requestUserInput",
} as const;

function runtimeHeaders(params: JsonObject, input: AutoAnswerInput): JsonObject {
  const providerId = stringAt(params, "providerId");
  const apiKey = input.providers().find((provider) => provider.providerId === providerId)?.apiKey;
  if (apiKey !== undefined) return { headersApplied: true, requestAuth: { apiKey } };
  return {
    headersApplied: false,
    errorMessage:
      "This provider signs in through the ZCode app, which a bridge cannot do. Use a provider with an API key.",
  };
}

/** The answer to a request that is no question to a person; undefined for those that are. */
export function autoAnswer(method: string, params: JsonObject, input: AutoAnswerInput): AutoAnswer | undefined {
  switch (method) {
    case INTERACTIONS.permission:
    case INTERACTIONS.userInput:
      return undefined;
    case "session/requestRuntimePreferences":
      return {
        result: {
          nativeSearchEnhancementsEnabled: input.nativeSearch,
          memoryEnabled: input.memory,
          // Left out it means true, and questions would answer themselves after a while.
          askUserQuestionAutoResolutionEnabled: false,
        },
      };
    case "interaction/requestProviderRuntimeHeaders":
      return { result: runtimeHeaders(params, input) };
    case "interaction/requestOfficialMcpAuthHeaders":
      return { result: { ok: false, reason: "Not available through this bridge" } };
    default:
      return { error: { code: -32601, message: `Method not found: ${method}` } };
  }
}
