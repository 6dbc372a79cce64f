import { expect, it } from "vitest";
import { gate, says } from "../support/fake-model/script.ts";
import { AGENTS } from "./support/agents.ts";
import { countOf, transcriptOf } from "./support/clients.ts";
import { onStage } from "./support/stage.ts";

it.for(AGENTS)(
  "$name: B1 B3 a prompt streams to the editor and two remote clients, and another client's prompt follows",
  (agent) =>
    onStage(agent, async (stage) => {
      const { editor, model, sessionId } = stage;
      const a = await stage.phone("a");
      const b = await stage.phone("b");
      const held = gate();
      model.reply(says("One "), says("two "), held, says("three."));

      const turn = stage.prompt(editor, "count");
      for (const client of [editor, a, b])
        await expect.poll(() => client.textOf("agent_message_chunk")).toContain("One ");
      held.open();
      expect((await turn)["stopReason"]).toBe("end_turn");
      for (const client of [a, b]) {
        await expect.poll(() => client.textOf("agent_message_chunk")).toContain("One two three.");
        expect(client.textOf("user_message_chunk")).toBe("count");
      }
      expect(editor.textOf("agent_message_chunk")).toContain("One two three.");
      expect(countOf(editor, "user_message_chunk")).toBe(0);

      model.reply(says("Four."));
      expect((await stage.prompt(a, "go on"))["stopReason"]).toBe("end_turn");
      await expect.poll(() => editor.textOf("user_message_chunk")).toBe("go on");
      await expect.poll(() => b.textOf("user_message_chunk")).toBe("countgo on");
      expect(a.textOf("user_message_chunk")).toBe("count");
      for (const client of [editor, a, b])
        await expect.poll(() => client.textOf("agent_message_chunk")).toContain("Four.");
      await expect.poll(() => transcriptOf(b, sessionId)).toEqual(transcriptOf(editor, sessionId));
      expect(model.script.left).toBe(0);
    }),
);
