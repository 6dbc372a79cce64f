import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { RawClient } from "../support/raw-client.ts";
import { Stage, textPrompt, until } from "../support/stage.ts";

/** 48 MB: more than a bridge's journal is bound to (32 MiB). */
const COUNT = 24_000;
const BYTES = 2000;
const SCRIPT = { turns: [[{ stream: { count: COUNT, bytes: BYTES } }]] };
const WHOLE = Array.from({ length: COUNT }, (_, index) => `${index} `.padEnd(BYTES, "x")).join("");

describe("more than a bridge remembers, faster than the hub takes it", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.end());

  async function watching(preset: string, capabilities: JsonObject, sessionId: string): Promise<RawClient> {
    const [instance] = await stage.linked();
    const client = await stage.client(preset, `?instance=${instance?.id}`, capabilities);
    await client.call("session/load", {
      sessionId,
      cwd: "/",
      mcpServers: [],
      _meta: { "acp-hub": { history: "none" } },
    });
    return client;
  }

  it("B5 B1 J5 the editor is not held up by a hub that stands still, and nobody loses anything or is closed for it", async () => {
    const hub = await stage.serve();
    const { editor, sessionId } = await stage.share(SCRIPT);
    const plain = await watching("viewer", {}, sessionId);
    hub.child.kill("SIGSTOP");
    expect(await editor.call("session/prompt", textPrompt(sessionId, "go"))).toEqual({ stopReason: "end_turn" });
    expect(plain.updates()).toEqual([]);
    hub.child.kill("SIGCONT");
    await until(() => plain.closed !== undefined || plain.textOf("agent_message_chunk").length >= WHOLE.length, 30_000);
    expect(plain.closed).toBeUndefined();
    expect(plain.textOf("agent_message_chunk") === WHOLE).toBe(true);
    expect(plain.notifications("_acp-hub/reset")).toEqual([]);
  });
});
