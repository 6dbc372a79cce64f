/** What the transcript knows of the tool call a question is about. */
import type { HubClient, InteractionCard } from "../../client/index.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";

/** Nobody decides blind: what the transcript shows of the tool call is shown here too. */
export function knownCard(client: HubClient, card: InteractionCard): JsonObject | undefined {
  const toolCallId = stringAt(objectAt(card.params, "toolCall"), "toolCallId");
  const session = card.sessionId === undefined ? undefined : client.session(card.sessionId);
  const item = session?.view.value.transcript.items.findLast(
    (other) => other.kind === "tool" && other.toolCallId === toolCallId,
  );
  return item?.kind === "tool" ? item.card : undefined;
}
