import { client, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { connectClient, type RawClient } from "../support/raw-client.ts";
import { loadOf, type Shared, Stage, textPrompt, upgrade } from "../support/stage.ts";

describe("ways in to /acp", () => {
  const stage = new Stage();
  let shared: Shared;
  let query: string;
  /** Opened first and never initialized. */
  let idle: RawClient;
  beforeAll(async () => {
    await stage.serve();
    shared = await stage.share({
      turns: [
        [{ say: "Hello from the agent." }, { ask: true }],
        { match: "slow", steps: [{ say: "One " }, { waitFor: "_test/on" }, { say: "two." }] },
      ],
    });
    query = `?instance=${(await stage.linked())[0]?.id}`;
    idle = await connectClient(stage.acp(query), await stage.token("viewer"));
  });
  afterAll(() => stage.end());

  /** The SDK's own WebSocket client, initialized; it allows what it is asked. */
  const sdkClient = async () => {
    const said: string[] = [];
    const stream = createWebSocketStream(stage.acp(query), {
      WebSocket: WebSocket as never,
      headers: { authorization: `Bearer ${await stage.token("driver")}` },
      cookies: "omit",
    });
    const connection = client({ name: "sdk" })
      .onNotification(methods.client.session.update, ({ params }) => {
        const { update } = params;
        if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
          said.push(update.content.text);
      })
      .onRequest(methods.client.session.requestPermission, () => ({
        outcome: { outcome: "selected", optionId: "allow" },
      }))
      .connect(stream);
    const { agent } = connection;
    const welcome = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    const load = () =>
      agent.request(methods.agent.session.load, { sessionId: shared.sessionId, cwd: "/", mcpServers: [] });
    const prompt = (text: string) =>
      agent.request(methods.agent.session.prompt, {
        sessionId: shared.sessionId,
        prompt: [{ type: "text", text }],
      });
    return { connection, agent, welcome, load, prompt, said: () => said.join("") };
  };

  it("contract 4 serves the SDK's own WebSocket client: list, load, prompt, a permission", async () => {
    const sdk = await sdkClient();
    expect(sdk.welcome.agentInfo?.name).toBe("scripted");
    await sdk.load();
    expect((await sdk.prompt("through the SDK")).stopReason).toBe("end_turn");
    expect(sdk.said()).toBe("Hello from the agent.");
    const { sessions } = await sdk.agent.request(methods.agent.session.list, {});
    expect(sessions.map((session) => session.sessionId)).toEqual([shared.sessionId]);
    sdk.connection.close();
  });

  it("contract 4 P2 the SDK's client goes in the middle of its turn: the turn ends, and its next connection shows that", async () => {
    const before = shared.editor.textOf("agent_message_chunk");
    const first = await sdkClient();
    await first.load();
    const turn = first.prompt("slow please");
    turn.catch(() => undefined);
    await expect.poll(() => shared.editor.textOf("agent_message_chunk")).toBe(`${before}One `);
    first.connection.close();
    await expect(turn).rejects.toThrow();
    shared.editor.notify("_test/on", {});
    await expect.poll(async () => (await stage.instances())[0]?.sessions[0]?.status).toBe("idle");
    const second = await sdkClient();
    await second.load();
    expect(second.said()).toBe(`${before}One two.`);
    second.connection.close();
  });

  it("contract 2 takes a bearer subprotocol, and echoes `acp` rather than the secret", async () => {
    const token = await stage.token("viewer");
    const both = await upgrade(stage.acp(query), { protocols: [`bearer.${token}`, "acp"] });
    const alone = await upgrade(stage.acp(query), { protocols: [`bearer.${token}`] });
    if ("status" in both || "status" in alone) throw new Error("refused");
    expect(both.ws.protocol).toBe("acp");
    expect(alone.ws.protocol).toBe(`bearer.${token}`);
    const remote = both.client();
    expect(await remote.initialize()).toMatchObject({ protocolVersion: 1 });
    both.ws.close();
    alone.ws.close();
  });

  it("T1 reads binary frames with several LF-separated messages, and answers in text frames", async () => {
    const opened = await upgrade(stage.acp(query), {
      headers: { authorization: `Bearer ${await stage.token("viewer")}` },
    });
    if ("status" in opened) throw new Error("refused");
    const kinds: boolean[] = [];
    opened.ws.on("message", (_data, isBinary) => kinds.push(isBinary));
    const remote = opened.client();
    const message = (id: string, method: string, params: object): string =>
      JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const text = `${message("a", "initialize", { protocolVersion: 1, clientCapabilities: {} })}\n${message("b", "session/load", loadOf(shared.sessionId))}\n`;
    opened.ws.send(Buffer.from(text, "utf8"), { binary: true });
    await expect
      .poll(() => remote.frames.filter((frame) => frame.kind === "response").map((frame) => frame.msg.id))
      .toEqual(["a", "b"]);
    expect(new Set(kinds)).toEqual(new Set([false]));
    opened.ws.close();
  });

  it("contract 2 takes ?token= only from a credential made for it", async () => {
    const made = await stage.home.run(["token", "create", "--scope", "viewer", "--name", "query", "--query"]);
    const asked = async (token: string) => upgrade(stage.acp(`${query}&token=${encodeURIComponent(token)}`));
    const allowed = await asked(made.stdout.trim());
    if ("status" in allowed) throw new Error(`refused: ${allowed.status}`);
    allowed.ws.close();
    expect(await asked(await stage.token("driver"))).toMatchObject({ status: 401 });
  });

  it("contract 4 refuses an upgrade with a real HTTP status: 400, 401, 403, 404", async () => {
    const authorization = `Bearer ${await stage.token("viewer")}`;
    const refused = async (url: string, headers: Record<string, string>) => {
      const answer = await upgrade(url, { headers });
      return "status" in answer ? answer.status : 101;
    };
    await expect.poll(() => refused(stage.acp("?instance=nobody"), { authorization }), { timeout: 6000 }).toBe(404);
    expect(await refused(stage.acp(query), {})).toBe(401);
    expect(await refused(stage.acp(query), { authorization: "Bearer nonsense" })).toBe(401);
    expect(await refused(stage.acp(query), { authorization, host: "evil.example" })).toBe(403);
    expect(await refused(stage.acp(query), { authorization, origin: "https://evil.example" })).toBe(403);
    expect(await refused(stage.acp().replace("/acp", "/other"), { authorization })).toBe(404);
    expect(await refused(stage.acp(query), { authorization, host: "b@d host" })).toBe(400);
    const ticketless = await upgrade(stage.acp(`${query}&ticket=used-up`));
    expect(ticketless).toMatchObject({ status: 401 });
    expect(JSON.parse("body" in ticketless ? ticketless.body : "{}")).toMatchObject({
      status: 401,
      title: "Unauthorized",
    });
  });

  it("contract 2 takes a ticket once", async () => {
    const token = await stage.token("driver");
    const response = await fetch(`${stage.url}/api/ws-ticket`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    const { ticket } = (await response.json()) as { ticket: string };
    const first = await upgrade(stage.acp(`${query}&ticket=${ticket}`));
    if ("status" in first) throw new Error(`refused: ${first.status}`);
    first.ws.close();
    expect(await upgrade(stage.acp(`${query}&ticket=${ticket}`))).toMatchObject({ status: 401 });
  });

  it("P5 gives request ids back exactly as sent, and refuses one in flight a second time", async () => {
    const remote = await stage.client("driver", query);
    await remote.call("session/load", loadOf(shared.sessionId));
    for (const id of [0, "", -7, "1", "ünïcode"]) {
      expect(await remote.callAs(id, "session/load", loadOf(shared.sessionId))).toHaveProperty("_meta");
    }
    const turn = remote.callAs("same", "session/prompt", textPrompt(shared.sessionId, "wait"));
    const asked = await remote.nextRequest("session/request_permission");
    remote.sendText(JSON.stringify({ jsonrpc: "2.0", id: "same", method: "session/list", params: {} }));
    await expect(turn).rejects.toMatchObject({ code: -32600 });
    remote.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
  });

  it("contract 4 drops who does not initialize within its time, with 1008", async () => {
    await expect(idle.call("session/list", {})).rejects.toMatchObject({ code: -32600 });
    await expect.poll(() => idle.closed?.code, { timeout: 15_000 }).toBe(1008);
  });
});
