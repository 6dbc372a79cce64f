/** Builds the answers an agent expects (ACP permission and elicitation results). */
import type { JsonObject } from "../protocol/json.ts";

export const selectOption = (optionId: string): JsonObject => ({ outcome: { outcome: "selected", optionId } });

export const acceptForm = (content: JsonObject): JsonObject => ({ action: "accept", content });

export const acceptUrl = (): JsonObject => ({ action: "accept" });

/** The person says no to the question; the agent goes on without. */
export const declineForm = (): JsonObject => ({ action: "decline" });

/** The person closes the question without deciding. */
export const cancelForm = (): JsonObject => ({ action: "cancel" });
