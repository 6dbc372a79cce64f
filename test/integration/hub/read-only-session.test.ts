import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import { isObject, type Json, type JsonObject, numberAt, objectAt } from "../../../src/protocol/json.ts";
import { hubMeta } from "../../../src/protocol/meta.ts";
import { SCRIPTED_AGENT } from "../../support/cli.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

const MESSAGES = 25;
const replay = Array.from({ length: MESSAGES }, (_, at) => ({
  sessionUpdate: "agent_message_chunk",
  messageId: `m${at}`,
  content: { type: "text", text: `<${at}>` },
}));

describe("a session no instance can load", () => {
  let harness: HubHarness;
  let client: RawClient;
  beforeEach(async () => {
    harness = await startHub({ isDurable: true });
    const backend = acpBackend({
      command: process.execPath,
      args: [SCRIPTED_AGENT, JSON.stringify({ load: { replay } })],
      name: "agent",
    });
    const { editor: transport, ended } = harness.bridge(backend, "one");
    const editor = rawClient(transport);
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await editor.call("session/load", { sessionId: "old", cwd: "/", mcpServers: [] });
    const known = () => [...(harness.hub.registry.get("one")?.mirror.sessions ?? [])].find(({ id }) => id === "old");
    await expect.poll(() => known()?.journal.tail, { timeout: 10_000 }).toBe(MESSAGES);
    transport.close({ reason: "done" });
    await ended;
    // A new hub: nothing of the instance is left but its record.
    await harness.restart();
    client = await connectClient(`ws://127.0.0.1:${harness.port}/acp`, "viewer:phone");
    await client.initialize({ _meta: { "acp-hub": {} } });
  });
  afterEach(() => harness.stop());

  const load = async (ours: JsonObject): Promise<JsonObject> => {
    const params = { sessionId: "old", cwd: "/", mcpServers: [], _meta: { "acp-hub": ours } };
    return objectAt(objectAt(await client.call("session/load", params), "_meta"), "acp-hub") ?? {};
  };
  const texts = (isPage: boolean): string[] =>
    client.notifications("session/update").flatMap((params: JsonObject) => {
      const content = objectAt(objectAt(params, "update"), "content");
      const isOfPage = hubMeta(params)?.["page"] === true;
      return isObject(content) && isOfPage === isPage ? [String(content["text"] as Json)] : [];
    });

  it("S1 is read back page by page to its start, for who may only read", async () => {
    const loaded = await load({ limit: 10 });
    expect(loaded).toMatchObject({ readOnly: true, verdict: "ok", hasMore: true });
    let before = numberAt(loaded, "before");
    let found = texts(false);
    for (let hasMore = true; hasMore; ) {
      const given = texts(true).length;
      const page = await client.call("_acp-hub/load_earlier", { sessionId: "old", before: before ?? null, limit: 10 });
      before = numberAt(page, "before");
      hasMore = page["hasMore"] === true;
      found = [...texts(true).slice(given), ...found];
    }
    expect(found).toEqual(replay.map((update) => update.content.text));
  });

  it("S3 gives a cursor what it missed, and says why it cannot", async () => {
    const { cursor } = await load({});
    expect(texts(false)).toHaveLength(MESSAGES);
    expect(await load({ cursor: cursor ?? null })).toMatchObject({ verdict: "ok", cursor });
    expect(texts(false)).toHaveLength(MESSAGES);
    const earlier = { ...(cursor as JsonObject), seq: MESSAGES - 2 };
    expect(await load({ cursor: earlier })).toMatchObject({ verdict: "ok", cursor });
    expect(texts(false).slice(MESSAGES)).toEqual([`<${MESSAGES - 2}>`, `<${MESSAGES - 1}>`]);
    expect(await load({ cursor: { epoch: "other", seq: 1 } })).toMatchObject({
      verdict: "reset",
      reason: "epoch-changed",
    });
    expect(await load({ cursor: { ...earlier, seq: 999 } })).toMatchObject({ verdict: "gap", reason: "ahead" });
    expect(texts(false)).toHaveLength(3 * MESSAGES + 2);
  });
});
