/** What the agent says in a message; "" for anything else, the echo of the prompt included. */
export function agentText(message) {
  const update = message.params?.update;
  return update?.sessionUpdate === "agent_message_chunk" ? (update.content?.text ?? "") : "";
}
