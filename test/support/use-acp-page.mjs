/** A page with `use-acp` on it, made as its README shows: connect, attach to a session, prompt, permission buttons. */
import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";
import { useAcpClient } from "use-acp";

const { wsUrl, sessionId } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const prompt = "from the page";

function Page() {
  const acp = useAcpClient({ wsUrl, autoConnect: false });
  const [ends, setEnds] = useState([]);
  const [attempts, setAttempts] = useState([]);
  // Its own word of the connection changes by itself, too: it dials again on a timer.
  const attempted = (how) => setAttempts((before) => [...before, how]);
  const connect = () =>
    acp.connect().then(
      () => attempted("made"),
      () => attempted("refused"),
    );
  const attach = async () => {
    acp.clearNotifications(sessionId);
    await acp.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    await acp.agent.loadSession({ sessionId, cwd: "/", mcpServers: [] });
  };
  const send = async () => {
    const { stopReason } = await acp.agent.prompt({ sessionId, prompt: [{ type: "text", text: prompt }] });
    setEnds((before) => [...before, stopReason]);
  };
  const choose = (optionId) => acp.resolvePermission({ outcome: { outcome: "selected", optionId } });
  const button = (name, onClick, isOff = false) =>
    h("button", { type: "button", key: name, onClick, disabled: isOff }, name);
  const line = (id, text) => h("output", { id, key: id }, text);
  return [
    line("status", acp.connectionState.status),
    line("attempts", attempts.join(" ")),
    line("session", acp.activeSessionId ?? ""),
    line("ends", ends.join(" ")),
    line("said", textOf(acp.notifications, "agent_message_chunk")),
    line("asked", textOf(acp.notifications, "user_message_chunk")),
    line("cards", cardsOf(acp.notifications)),
    line("dialog", acp.pendingPermission?.deferredId ?? ""),
    button("Connect", connect),
    button("Attach", attach, acp.agent === null),
    button("Send", send, acp.activeSessionId === null),
    h(
      "fieldset",
      { key: "permission" },
      acp.pendingPermission?.options.map(({ optionId, name }) => button(name, () => choose(optionId))),
    ),
  ];
}

const updatesOf = (notifications) =>
  notifications.flatMap(({ type, data }) => (type === "session_notification" ? [data.update] : []));

const textOf = (notifications, kind) =>
  updatesOf(notifications)
    .map(({ sessionUpdate, content }) => (sessionUpdate === kind && content.type === "text" ? content.text : ""))
    .join("");

/** The last state of each tool card. */
const cardsOf = (notifications) => {
  const cards = new Map();
  for (const { toolCallId, status } of updatesOf(notifications)) if (status) cards.set(toolCallId, status);
  return [...cards].map(([id, status]) => `${id} ${status}`).join(", ");
};

createRoot(document.body).render(h(Page));
