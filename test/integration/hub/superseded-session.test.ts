import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import type { Frame } from "../../../src/protocol/envelope.ts";
import { type JsonObject, objectAt } from "../../../src/protocol/json.ts";
import { hubMeta } from "../../../src/protocol/meta.ts";
import { SCRIPTED_AGENT } from "../../support/cli.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

const CWD = "/";
const script = { load: { replay: [] }, turns: [[{ say: "done" }]] };
const isPresence = ({ msg }: Frame): boolean => "method" in msg && msg.method === "_acp-hub/presence";
const promptOf = (text: string): JsonObject => ({ sessionId: "both", prompt: [{ type: "text", text }] });

describe("one session on two instances", () => {
  let harness: HubHarness;
  let phone: RawClient;
  const editors = new Map<string, RawClient>();

  const share = async (name: string, agent = "agent", cwd = CWD): Promise<RawClient> => {
    const backend = acpBackend({
      command: process.execPath,
      args: [SCRIPTED_AGENT, JSON.stringify(script)],
      name: agent,
    });
    const editor = rawClient(harness.bridge(backend, name).editor);
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await editor.call("session/load", { sessionId: "both", cwd, mcpServers: [] });
    await expect.poll(() => harness.hub.registry.get(name)?.mirror.holdsSession("both")).toBe(true);
    await editor.call("session/prompt", promptOf(`to ${name}`));
    // The hub has heard of the turn and its end.
    const shown = () => harness.hub.registry.get(name)?.mirror.session("both");
    await expect.poll(() => [shown()?.lastLine?.text, shown()?.info.turn]).toEqual(["done", "idle"]);
    editors.set(name, editor);
    return editor;
  };
  const loadOn = (client: RawClient, instance: string): Promise<JsonObject> => {
    const meta = { "acp-hub": { instance } };
    return client.call("session/load", { sessionId: "both", cwd: CWD, mcpServers: [], _meta: meta });
  };
  /** Somebody who sees what the hub has heard from that instance. */
  const watcherOf = async (instance: string): Promise<RawClient> => {
    const client = await connectClient(`ws://127.0.0.1:${harness.port}/acp`, "viewer:watcher");
    await client.initialize();
    await loadOn(client, instance);
    return client;
  };
  const listed = async (client: RawClient): Promise<(JsonObject | undefined)[]> => {
    const { sessions } = (await client.call("session/list", {})) as { sessions: JsonObject[] };
    return sessions.map(hubMeta);
  };
  const texts = (client: RawClient): unknown[] =>
    client
      .notifications("session/update")
      .map((params) => objectAt(objectAt(params, "update"), "content")?.["text"])
      .filter((text) => String(text).startsWith("to "));
  const supersededOver = async (): Promise<string[]> => {
    const response = await fetch(`${harness.url}/api/instances`, { headers: { authorization: "Bearer viewer:v" } });
    const views = (await response.json()) as {
      id: string;
      sessions: { superseded?: true; supersededBy?: string }[];
    }[];
    return views.flatMap(({ id, sessions }) =>
      sessions.filter(({ superseded }) => superseded).map(({ supersededBy }) => `${id} → ${supersededBy}`),
    );
  };

  beforeEach(async () => {
    harness = await startHub();
    await share("one");
    await share("two");
    phone = await connectClient(`ws://127.0.0.1:${harness.port}/acp`, "driver:phone");
    await phone.initialize({ _meta: { "acp-hub": {} } });
  });
  afterEach(() => harness.stop());

  it("S9 is one entry with both, the one active last first and the other superseded, until that one goes on", async () => {
    expect(await listed(phone)).toEqual([{ instances: ["two", "one"], superseded: ["one"] }]);
    expect(await supersededOver()).toEqual(["one → two"]);
    await editors.get("one")?.call("session/prompt", promptOf("again"));
    await expect.poll(() => listed(phone)).toEqual([{ instances: ["one", "two"], superseded: ["two"] }]);
    expect(await supersededOver()).toEqual(["two → one"]);
  });

  it("S9 an equal id of another agent, or in another directory, is another session", async () => {
    await share("three", "another-agent");
    await share("four", "agent", "/tmp");
    const entries = await listed(phone);
    expect(entries).toHaveLength(3);
    expect(entries.flatMap((entry) => entry?.["superseded"] ?? [])).toEqual(["one"]);
  });

  it("S9 an attachment stays where it was made while the other goes on, and no one is told it ended", async () => {
    await loadOn(phone, "one");
    const other = await watcherOf("two");
    await editors.get("two")?.call("session/prompt", promptOf("to two alone"));
    await expect.poll(() => texts(other)).toEqual(["to two", "to two alone"]);
    await editors.get("one")?.call("session/prompt", promptOf("to the phone"));
    await expect.poll(() => texts(phone)).toEqual(["to one", "to the phone"]);
    expect(phone.notifications("_acp-hub/detached")).toEqual([]);
  });

  it("S9 who attaches it on the other leaves the first, is told so before the new history, and is asked there", async () => {
    await loadOn(phone, "one");
    const before = phone.frames.length;
    await loadOn(phone, "two");
    // Word of who watches the first one may still come before it.
    const [first] = phone.frames.slice(before).filter((frame) => !isPresence(frame));
    expect(first).toMatchObject({
      msg: { method: "_acp-hub/detached", params: { sessionId: "both", instance: "one", reason: "superseded" } },
    });
    const other = await watcherOf("one");
    await editors.get("one")?.call("session/prompt", promptOf("to nobody"));
    await expect.poll(() => texts(other)).toEqual(["to one", "to nobody"]);
    await phone.call("session/prompt", promptOf("to the home"));
    await expect.poll(() => editors.get("two")?.notifications("session/update").length).toBeGreaterThan(0);
    expect(texts(phone)).toEqual(["to one", "to two"]);
    expect(phone.notifications("_acp-hub/detached")).toHaveLength(1);
  });

  it("S9 a prompt that names an instance attaches there: the next without a name goes the same way", async () => {
    await phone.call("session/prompt", { ...promptOf("to two first"), _meta: { "acp-hub": { instance: "two" } } });
    await phone.call("session/prompt", promptOf("to two again"));
    await expect
      .poll(() => texts(editors.get("two") ?? phone))
      .toEqual(expect.arrayContaining(["to two first", "to two again"]));
  });
});
