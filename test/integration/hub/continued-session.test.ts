import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isObject, type JsonObject, numberAt, objectAt } from "../../../src/protocol/json.ts";
import { hubMeta } from "../../../src/protocol/meta.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

const said = (text: string): JsonObject => ({
  sessionUpdate: "agent_message_chunk",
  messageId: text,
  content: { type: "text", text },
});
const OLD = Array.from({ length: 7 }, (_, at) => `old ${at}`);
const NEW = Array.from({ length: 3 }, (_, at) => `new ${at}`);

describe("a session that was resumed", () => {
  let harness: HubHarness;
  let end: () => Promise<void>;
  let client: RawClient;

  /** An editor opens "s1" by `method`; the agent says `texts` in it. */
  const open = async (instance: string, method: string, texts: readonly string[]): Promise<void> => {
    const agent = puppetAgent();
    agent.on("session/resume", () => ({}));
    const { editor: transport, ended } = harness.bridge(agent.backend, instance);
    const editor = rawClient(transport);
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await editor.call(method, { sessionId: "s1", cwd: "/", mcpServers: [] });
    for (const text of texts) agent.update("s1", said(text));
    const session = () => harness.hub.registry.get(instance)?.mirror.session("s1");
    await expect.poll(() => session()?.journal.tail).toBe(texts.length);
    end = async () => {
      transport.close({ reason: "done" });
      await ended;
      // A new hub: nothing of the instance is left but its record.
      await harness.restart();
    };
  };
  const load = async (meta: JsonObject): Promise<JsonObject> =>
    await client.call("session/load", { sessionId: "s1", cwd: "/", mcpServers: [], _meta: meta });
  const texts = (isPage: boolean): string[] =>
    client.notifications("session/update").flatMap((params) => {
      const content = objectAt(objectAt(params, "update"), "content");
      const isOfPage = hubMeta(params)?.["page"] === true;
      return isObject(content) && isOfPage === isPage ? [String(content["text"])] : [];
    });
  /** Pages back to the start; what each answer holds is `ask`'s business. */
  const pageBack = async (found: readonly string[], ask: () => Promise<boolean>): Promise<readonly string[]> => {
    let all = found;
    for (let hasMore = true; hasMore; ) {
      const given = texts(true).length;
      hasMore = await ask();
      all = [...texts(true).slice(given), ...all];
    }
    return all;
  };
  const byOurPages = (loaded: JsonObject): Promise<readonly string[]> => {
    let before = numberAt(hubMeta(loaded), "before");
    return pageBack(texts(false), async () => {
      const page = await client.call("_acp-hub/load_earlier", { sessionId: "s1", before: before ?? null, limit: 2 });
      before = numberAt(page, "before");
      return page["hasMore"] === true;
    });
  };
  const byTheirPages = (loaded: JsonObject): Promise<readonly string[]> => {
    let cursor = objectAt(loaded, "replayMeta")?.["cursor"] ?? null;
    return pageBack(texts(false), async () => {
      const page = await client.call("session/load_earlier", { sessionId: "s1", before: cursor, limit: 2 });
      cursor = objectAt(page, "replayMeta")?.["cursor"] ?? null;
      return objectAt(page, "replayMeta")?.["hasMore"] === true;
    });
  };

  const join = async (): Promise<void> => {
    client = await connectClient(`ws://127.0.0.1:${harness.port}/acp`, "viewer:phone");
    await client.initialize({ _meta: { "acp-hub": {} } });
  };

  beforeEach(async () => {
    harness = await startHub({ isDurable: true });
    await open("one", "session/new", OLD);
    await end();
    await open("two", "session/resume", NEW);
    await join();
  });
  afterEach(() => harness.stop());

  it("S1 S3 a reader that comes back from before the restart of its agent can read back to the start, too", async () => {
    const loaded = await load({ "acp-hub": { cursor: { epoch: "of before", seq: 3 } } });
    expect(hubMeta(loaded)).toMatchObject({ verdict: "reset", reason: "epoch-changed", hasMore: true, before: 1 });
    expect(await byOurPages(loaded)).toEqual([...OLD, ...NEW]);
  });

  it("S1 is read back while it is live, through the restart of its agent to its start", async () => {
    const loaded = await load({});
    expect(hubMeta(loaded)).toMatchObject({ verdict: "gap", reason: "agent-restarted", hasMore: true, before: 1 });
    expect(texts(false)).toEqual(NEW);
    expect(await byOurPages(loaded)).toEqual([...OLD, ...NEW]);
    const epochs = new Set(client.notifications("session/update").map((params) => hubMeta(params)?.["epoch"]));
    expect(epochs.size).toBe(2);
  });

  it("S1 a page begins in the new epoch and ends in the old one, with nothing between them lost", async () => {
    const loaded = await load({ "acp-hub": { limit: 1 } });
    expect(texts(false)).toEqual(NEW.slice(-1));
    expect(await byOurPages(loaded)).toEqual([...OLD, ...NEW]);
  });

  it("C4.dialect S1 the predecessor's clients page through it as well", async () => {
    const loaded = await load({ zcode: { limit: 2 } });
    expect(loaded["replayMeta"]).toMatchObject({ hasMore: true, totalMessages: 10, replayedMessages: 2 });
    expect(await byTheirPages(loaded)).toEqual([...OLD, ...NEW]);
  });

  it("S1 one that nobody has written in since shows what was before", async () => {
    await end();
    await open("three", "session/resume", []);
    await join();
    const loaded = await load({});
    expect(texts(false)).toEqual([]);
    expect(await byOurPages(loaded)).toEqual([...OLD, ...NEW]);
  });

  it("S1 C4.dialect of the closed one both kinds of clients read all of it", async () => {
    await end();
    for (const [meta, pages] of [
      [{ "acp-hub": { limit: 2 } }, byOurPages],
      [{ zcode: { limit: 2 } }, byTheirPages],
    ] as const) {
      await join();
      const loaded = await load(meta);
      expect(hubMeta(loaded)).toMatchObject({ readOnly: true, hasMore: true });
      expect(await pages(loaded)).toEqual([...OLD, ...NEW]);
    }
    const loaded = await load({ zcode: { limit: 3 } });
    expect(loaded["replayMeta"]).toMatchObject({
      hasMore: true,
      totalMessages: 10,
      replayedMessages: 3,
      turnActive: false,
      lastMessageId: "new 2",
    });
  });

  it("C4.dialect a cursor the record does not know has expired in so many words", async () => {
    await end();
    await join();
    await load({ zcode: { limit: 2 } });
    for (const before of ["junk", '["other",3]', null]) {
      await expect(client.call("session/load_earlier", { sessionId: "s1", before })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining("cursor expired"),
      });
    }
  });
});
