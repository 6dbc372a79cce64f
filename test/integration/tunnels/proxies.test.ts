import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { demoBackend } from "../../../src/backends/demo/demo-backend.ts";
import { webSocketTransport } from "../../../src/transport/websocket.ts";
import { type HarnessOptions, type HubHarness, startHub } from "../../support/hub-harness.ts";
import {
  type Certificate,
  freePort,
  makeCertificate,
  type ProxyKind,
  type RunningProxy,
  startProxy,
} from "../../support/proxies.ts";
import { RawClient, rawClient } from "../../support/raw-client.ts";

const instantly = (_ms: number, signal: AbortSignal): Promise<void> =>
  signal.aborted ? Promise.reject(signal.reason) : new Promise((resolve) => setImmediate(resolve));

let certificate: Certificate;
beforeAll(() => {
  certificate = makeCertificate();
});
afterAll(() => certificate.remove());

describe.each<ProxyKind>(["caddy", "nginx", "haproxy"])("through %s", (kind) => {
  let hub: HubHarness;
  let proxy: RunningProxy;
  const sockets: WebSocket[] = [];

  const start = async (options: HarnessOptions = {}, idleSeconds?: number): Promise<void> => {
    const port = await freePort();
    const publicUrl = `https://localhost:${port}${options.basePath ?? ""}`;
    hub = await startHub({ ...options, edge: { publicUrl } });
    proxy = await startProxy(kind, {
      hubPort: hub.port,
      port,
      certificate,
      ...(idleSeconds !== undefined && { idleSeconds }),
    });
  };
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.terminate();
    await proxy.stop();
    await hub.stop();
  });

  const open = async (path: string, headers: Record<string, string> = {}): Promise<WebSocket> => {
    const socket = new WebSocket(proxy.url.replace("https", "wss") + path, ["acp"], {
      ca: certificate.ca,
      headers: { authorization: "Bearer driver:phone", ...headers },
    });
    sockets.push(socket);
    await once(socket, "open");
    return socket;
  };
  const get = async (path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> => {
    const all = { authorization: "Bearer driver:phone", ...headers };
    const outgoing = request(proxy.url + path, { ca: certificate.ca, headers: all });
    outgoing.end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    return response;
  };
  const sessionOf = async (): Promise<string> => {
    const { editor } = hub.bridge(demoBackend({ pace: instantly }));
    const client = rawClient(editor);
    await client.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const sessionId = String((await client.call("session/new", { cwd: "/", mcpServers: [] }))["sessionId"]);
    await expect.poll(() => hub.hub.registry.list()[0]?.mirror.holdsSession(sessionId)).toBe(true);
    return sessionId;
  };
  const attach = async (socket: WebSocket, sessionId: string): Promise<RawClient> => {
    const phone = new RawClient(webSocketTransport(socket));
    await phone.initialize();
    await phone.call("session/load", { sessionId, cwd: "/", mcpServers: [] });
    return phone;
  };
  const ask = (phone: RawClient, sessionId: string, text: string) =>
    phone.call("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

  it("C4.upgrade a phone on TLS prompts a session, two megabytes long too, as its own origin", async () => {
    await start();
    const sessionId = await sessionOf();
    const socket = await open("/acp", { origin: proxy.url });
    expect(socket.protocol).toBe("acp");
    const phone = await attach(socket, sessionId);
    expect((await ask(phone, sessionId, "hello"))["stopReason"]).toBe("end_turn");
    expect(phone.textOf("agent_message_chunk").length).toBeGreaterThan(0);
    expect((await ask(phone, sessionId, "x".repeat(2_000_000)))["stopReason"]).toBe("end_turn");
  });

  it("C4.upgrade a refused upgrade keeps its status, another origin is refused, and no ticket is logged", async () => {
    await start();
    await expect(open("/acp?ticket=SECRET1", { authorization: "" })).rejects.toThrow("401");
    await expect(open("/acp?token=SECRET2", { origin: "https://evil.example" })).rejects.toThrow("403");
    const response = await get("/api/instances?token=SECRET3");
    response.resume();
    expect(response.statusCode).toBe(200);
    // Each logs a request when it is done with it. Caddy logs none.
    if (kind !== "caddy")
      await expect.poll(() => proxy.output().match(/GET \/(?:acp|api\/instances)\b/g)).toHaveLength(3);
    expect(proxy.output()).not.toContain("SECRET");
  });

  it("C3.events an event arrives while the stream stays open", async () => {
    await start();
    const response = await get("/api/events");
    let text = "";
    response.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    await expect.poll(() => text).toContain("event: hello");
    await sessionOf();
    await expect.poll(() => text).toContain("event: instance-added");
    expect(response.complete).toBe(false);
    response.destroy();
  });

  it("C4.upgrade under a base path everything is below it and nothing above", async () => {
    await start({ basePath: "/hub" });
    const sessionId = await sessionOf();
    const phone = await attach(await open("/hub/acp", { origin: proxy.url }), sessionId);
    expect((await ask(phone, sessionId, "hello"))["stopReason"]).toBe("end_turn");
    const [below, above] = [await get("/hub/api/instances"), await get("/api/instances")];
    for (const response of [below, above]) response.resume();
    expect([below.statusCode, above.statusCode]).toEqual([200, 404]);
  });

  it("L4 an idle socket outlives the proxy's idle limit, because the hub pings", async () => {
    await start({ limits: { pingMs: 1000 } }, kind === "caddy" ? undefined : 3);
    const sessionId = await sessionOf();
    const socket = await open("/acp");
    let pings = 0;
    socket.on("ping", () => {
      pings += 1;
    });
    const phone = await attach(socket, sessionId);
    const opened = Date.now();
    await expect.poll(() => pings >= 3 && Date.now() - opened > 4500, { timeout: 15_000, interval: 100 }).toBe(true);
    expect((await ask(phone, sessionId, "hello"))["stopReason"]).toBe("end_turn");
  });

  if (kind !== "caddy")
    it("L4 without pings the same limit cuts it, so that the test above means something", async () => {
      await start({}, 1);
      const socket = await open("/acp");
      await once(socket, "close");
      expect(socket.readyState).toBe(WebSocket.CLOSED);
    });
});
