import { expect, it } from "vitest";
import { objectAt, stringAt } from "../../src/protocol/json.ts";
import { gate, says } from "../support/fake-model/script.ts";
import { AGENTS } from "./support/agents.ts";
import { updatesOf } from "./support/clients.ts";
import { onStage } from "./support/stage.ts";

it.for(AGENTS)("$name: P1 B3 prompts of two clients at once both complete, one after the other", (agent) =>
  onStage(agent, async (stage) => {
    const { editor, model, sessionId, tap } = stage;
    const a = await stage.phone("a");
    const b = await stage.phone("b");
    const held = gate();
    model.reply(held, says("Answer one."));
    model.reply(says("Answer two."));

    const ended: string[] = [];
    const one = stage.prompt(a, "question one").then((end) => {
      ended.push("one");
      return end;
    });
    // It has the lane before the other comes: they speak on two sockets.
    await model.untilTurns(1);
    const two = stage.prompt(b, "question two").then((end) => {
      ended.push("two");
      return end;
    });
    // The second has reached the lane, and stays there.
    await expect.poll(() => lastQueueLength(a)).toBe(1);
    expect(tap.sentCount("session/prompt")).toBe(1);
    held.open();

    expect([(await one)["stopReason"], (await two)["stopReason"]]).toEqual(["end_turn", "end_turn"]);
    expect(ended).toEqual(["one", "two"]);
    await expect.poll(() => a.textOf("user_message_chunk")).toBe("question two");
    await expect.poll(() => b.textOf("agent_message_chunk")).toContain("Answer two.");
    expect(b.textOf("user_message_chunk")).toBe("question one");
    await expect
      .poll(() => conversationOf(editor, sessionId))
      .toEqual(["question one", "Answer one.", "question two", "Answer two."]);
  }),
);

function lastQueueLength(client: Parameters<typeof updatesOf>[0]): number {
  const queue = client.notifications("_acp-hub/turn").at(-1)?.["queue"];
  return Array.isArray(queue) ? queue.length : 0;
}

/** The questions and scripted answers in their order; what an agent says beside them is left out. */
function conversationOf(client: Parameters<typeof updatesOf>[0], sessionId: string): string[] {
  return updatesOf(client, sessionId).flatMap((update) => {
    const text = stringAt(objectAt(update, "content"), "text") ?? "";
    return /^(question|Answer) (one|two)\.?$/.test(text) ? [text] : [];
  });
}
