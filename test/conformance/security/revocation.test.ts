import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ClientSocket } from "../../../src/hub/client-socket.ts";
import { CLOSE } from "../../../src/protocol/close-codes.ts";
import { deviceId } from "../../../src/protocol/ids.ts";
import { type OpenStream, openEventStream } from "../../support/event-stream.ts";
import { type PuppetAgent, puppetAgent } from "../../support/puppet-agent.ts";
import { PushReceiver } from "../../support/push-service.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";
import { ask } from "../../support/raw-http.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";

async function stream(port: number, token: string): Promise<OpenStream> {
  const opened = await openEventStream(port, { authorization: `Bearer ${token}` });
  if (typeof opened === "number") throw new Error(`refused: ${opened}`);
  return opened;
}

async function shareSession(hub: SecureHub): Promise<{ agent: PuppetAgent; editor: RawClient }> {
  const agent = puppetAgent();
  const editor = rawClient(hub.bridge(agent.backend).editor);
  await editor.initialize({});
  await editor.call("session/new", { cwd: hub.workspace, mcpServers: [] });
  await vi.waitFor(() => expect(hub.running.hub.registry.get("i-0")?.mirror.holdsSession("s1")).toBe(true), {
    timeout: 20_000,
  });
  return { agent, editor };
}

describe("a device that is revoked", () => {
  let hub: SecureHub;
  beforeEach(async () => {
    hub = await startSecureHub();
  });
  afterEach(() => hub.stop());

  const pairApp = async (scope: string) => {
    const admin = (await hub.token("owner")).token;
    const made = await ask(hub.port, "/api/pairings", { method: "POST", token: admin, body: { scope } });
    const code = String(made.body["code"]);
    const paired = await ask(hub.port, "/api/pair", { method: "POST", body: { code, name: "phone" } });
    expect(paired.status).toBe(201);
    const { deviceId: id, accessToken, refreshToken } = paired.body;
    return { admin, id: String(id), accessToken: String(accessToken), refreshToken: String(refreshToken) };
  };
  const refresh = (refreshToken: string) => ask(hub.port, "/api/token", { method: "POST", body: { refreshToken } });

  test("C3.devices loses its sockets and its event streams within a second, with 4401, and nobody else does", async () => {
    await shareSession(hub);
    const phone = await pairApp("driver");
    const other = await hub.token("driver");
    const dial = (token: string, path: string) => connectClient(`ws://127.0.0.1:${hub.port}${path}`, token);
    const sockets = [
      await dial(phone.accessToken, "/acp"),
      await dial(phone.accessToken, "/acp?instance=i-0"),
      // Opened and never initialized: it is closed as well.
      await dial(phone.accessToken, "/acp?session=s1"),
    ];
    const ticket = await ask(hub.port, "/api/ws-ticket", { method: "POST", token: phone.accessToken });
    const byTicket = await connectClient(`ws://127.0.0.1:${hub.port}/acp?ticket=${ticket.body["ticket"]}`, "", {
      headers: { authorization: "none" },
    });
    sockets.push(byTicket);
    await sockets[0]?.initialize();
    const events = await stream(hub.port, phone.accessToken);
    const [bystander, otherEvents] = [await dial(other.token, "/acp"), await stream(hub.port, other.token)];

    const close = vi.spyOn(ClientSocket.prototype, "close");
    const gone = await ask(hub.port, `/api/devices/${phone.id}`, { method: "DELETE", token: phone.admin });
    expect(gone.status).toBe(204);
    // Sooner than any clock would say: before whoever revoked it had the answer.
    expect(close.mock.calls).toEqual(sockets.map(() => [CLOSE.revoked]));
    close.mockRestore();
    await expect.poll(() => sockets.every((socket) => socket.closed?.code === 4401), { interval: 10 }).toBe(true);
    await events.ended;
    expect(events.text()).toContain('event: close\ndata: {"code":4401,"reason":"revoked"}');

    await bystander.initialize();
    expect(bystander.closed).toBeUndefined();
    const told = (): number => otherEvents.text().split("event: instance-changed").length;
    const before = told();
    await dial(other.token, "/acp?instance=i-0");
    await expect.poll(told).toBeGreaterThan(before);
    expect(otherEvents.text()).not.toContain("4401");
    otherEvents.close();
  });

  test("C3.devices, C2.tokens is dead by every credential it had, at once and after the hub has restarted", async () => {
    const phone = await pairApp("driver");
    const script = await hub.token("driver", { query: true });
    const ticket = await ask(hub.port, "/api/ws-ticket", { method: "POST", token: phone.accessToken });
    for (const id of [phone.id, script.deviceId])
      expect((await ask(hub.port, `/api/devices/${id}`, { method: "DELETE", token: phone.admin })).status).toBe(204);
    const expectDead = async () => {
      for (const token of [phone.accessToken, script.token])
        expect((await ask(hub.port, "/api/instances", { token })).status).toBe(401);
      expect((await refresh(phone.refreshToken)).status).toBe(401);
      expect((await ask(hub.port, `/api/instances?token=${script.token}`)).status).toBe(401);
      expect((await ask(hub.port, `/api/instances?ticket=${ticket.body["ticket"]}`)).status).toBe(401);
      await expect(connectClient(`ws://127.0.0.1:${hub.port}/acp`, phone.accessToken)).rejects.toThrow(/401/);
    };
    await expectDead();
    await hub.restart();
    await expectDead();
    // What was not revoked lives on.
    expect((await ask(hub.port, "/api/devices", { token: phone.admin })).status).toBe(200);
  });

  test("C2.tokens refreshing gives new credentials, and an old one used again ends the device and its sockets", async () => {
    const phone = await pairApp("driver");
    const second = await refresh(phone.refreshToken);
    expect(second.status).toBe(200);
    const { accessToken, refreshToken } = second.body;
    expect(refreshToken).not.toBe(phone.refreshToken);
    const socket = await connectClient(`ws://127.0.0.1:${hub.port}/acp`, String(accessToken));
    const events = await stream(hub.port, String(accessToken));
    expect(await refresh(phone.refreshToken)).toMatchObject({ status: 401, body: { code: "revoked-device" } });
    await expect.poll(() => socket.closed?.code).toBe(4401);
    await events.ended;
    for (const token of [phone.accessToken, String(accessToken)])
      expect((await ask(hub.port, "/api/instances", { token })).status).toBe(401);
    expect((await refresh(String(refreshToken))).status).toBe(401);
    await hub.restart();
    expect((await refresh(String(refreshToken))).status).toBe(401);
  });

  test("C3.devices logging out ends the device's own sockets and nobody else's", async () => {
    const [one, two] = [await pairApp("viewer"), await pairApp("viewer")];
    const sockets = await Promise.all(
      [one, two].map(({ accessToken }) => connectClient(`ws://127.0.0.1:${hub.port}/acp`, accessToken)),
    );
    expect((await ask(hub.port, "/api/logout", { method: "POST", token: one.accessToken })).status).toBe(204);
    await expect.poll(() => sockets[0]?.closed?.code).toBe(4401);
    await sockets[1]?.initialize();
    expect(sockets[1]?.closed).toBeUndefined();
  });

  test("C3.devices is pushed to no more, and is not after a restart that came in between", async () => {
    const phone = await pairApp("viewer");
    const subscription = new PushReceiver().subscription("https://push.example/x");
    const put = await ask(hub.port, "/api/push/subscription", {
      method: "PUT",
      token: phone.accessToken,
      body: { subscription },
    });
    expect(put.status).toBe(204);
    const wish = await ask(hub.port, "/api/push/preferences", {
      method: "PATCH",
      token: phone.accessToken,
      body: { mute: "s1" },
    });
    expect(wish.status).toBe(200);
    const kept = () =>
      ["push.json", "push-preferences.json"].map((name) => readFileSync(join(hub.paths.dataDir, name), "utf8")).join();
    expect(kept().split(phone.id)).toHaveLength(3);
    await ask(hub.port, `/api/devices/${phone.id}`, { method: "DELETE", token: phone.admin });
    await vi.waitFor(() => expect(kept()).not.toContain(phone.id), { timeout: 10_000 });
    writeFileSync(join(hub.paths.dataDir, "push.json"), JSON.stringify([{ deviceId: phone.id, ...subscription }]));
    await hub.restart();
    expect(kept()).not.toContain(phone.id);
  });

  test("C6.limits a device has a bounded number of event streams", async () => {
    await hub.stop();
    hub = await startSecureHub({ limits: { ...hub.running.hub.options.limits, connectionsPerDevice: 2 } });
    const { token } = await hub.token("viewer");
    const open = [await stream(hub.port, token), await stream(hub.port, token)];
    expect(await openEventStream(hub.port, { authorization: `Bearer ${token}` })).toBe(429);
    open[0]?.close();
    await vi.waitFor(() => expect(hub.running.hub.streams.count).toBe(1), { timeout: 10_000 });
    open.push(await stream(hub.port, token));
    for (const each of open) each.close();
  });

  test("C6.limits the hub has a bounded number of event streams, whoever opens them, and says that it is full", async () => {
    await hub.stop();
    const limits = { ...hub.running.hub.options.limits, connectionsPerDevice: 2, connectionsMax: 3 };
    hub = await startSecureHub({ limits });
    const [one, other] = [(await hub.token("viewer")).token, (await hub.token("viewer")).token];
    const open = [await stream(hub.port, one), await stream(hub.port, one), await stream(hub.port, other)];
    const full = await ask(hub.port, "/api/events", { token: other });
    expect(full).toMatchObject({ status: 503, body: { code: "busy" } });
    expect(full.headers["retry-after"]).toBe("5");
    open[0]?.close();
    await vi.waitFor(() => expect(hub.running.hub.streams.count).toBe(2), { timeout: 10_000 });
    open.push(await stream(hub.port, other));
    for (const each of open) each.close();
  });

  test("C2.reread the prompt of a device that is revoked while it waits never reaches the agent", async () => {
    const { agent, editor } = await shareSession(hub);
    let running: string | number | null = null;
    agent.on("session/prompt", (_params, id) => {
      running ??= id;
      return undefined;
    });
    const phone = await pairApp("driver");
    const socket = await connectClient(`ws://127.0.0.1:${hub.port}/acp?instance=i-0`, phone.accessToken);
    await socket.initialize();
    await socket.call("session/load", { sessionId: "s1", cwd: hub.workspace, mcpServers: [] });
    const text = (words: string) => ({ sessionId: "s1", prompt: [{ type: "text", text: words }] });
    const first = editor.call("session/prompt", text("first"));
    await vi.waitFor(() => expect(running).not.toBeNull(), { timeout: 10_000 });
    for (const promptId of ["p1", undefined])
      void socket
        .call("session/prompt", {
          ...text("later"),
          ...(promptId !== undefined && { _meta: { "acp-hub": { promptId } } }),
        })
        .catch(() => undefined);
    await vi.waitFor(() => expect(socket.notifications("_acp-hub/turn").at(-1)?.["queue"]).toHaveLength(2), {
      timeout: 10_000,
    });
    await ask(hub.port, `/api/devices/${phone.id}`, { method: "DELETE", token: phone.admin });
    const watcher = await connectClient(`ws://127.0.0.1:${hub.port}/acp?instance=i-0`, phone.admin);
    await watcher.initialize();
    await vi.waitFor(
      async () => expect((await watcher.call("_acp-hub/queue/list", { sessionId: "s1" }))["queue"]).toEqual([]),
      { timeout: 10_000 },
    );
    agent.wire.answer(running, { stopReason: "end_turn" });
    expect(await first).toEqual({ stopReason: "end_turn" });
    expect(agent.calls.filter((call) => call.method === "session/prompt")).toHaveLength(1);
  });
});

describe("a subject of an external issuer", () => {
  let hub: SecureHub;
  let issuer: Server;
  let sign: (claims: Record<string, unknown>) => Promise<string>;
  beforeEach(async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" }] });
    issuer = createServer((_request, response) => response.setHeader("content-type", "application/json").end(keys));
    await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", () => resolve()));
    const iss = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
    sign = (claims) =>
      new SignJWT({
        iss,
        aud: "hub",
        sub: "ada",
        groups: ["staff"],
        exp: Math.floor(Date.now() / 1000) + 600,
        ...claims,
      })
        .setProtectedHeader({ alg: "ES256", kid: "k" })
        .sign(privateKey);
    const presets = { staff: "driver", guests: "viewer", helpers: "approver" } as const;
    hub = await startSecureHub({
      externalIssuers: [{ issuer: iss, audience: "hub", jwksUrl: `${iss}/keys`, claim: "groups", presets }],
    });
  });
  afterEach(async () => {
    await hub.stop();
    await new Promise((resolve) => issuer.close(resolve));
  });
  const dial = (token: string) => connectClient(`ws://127.0.0.1:${hub.port}/acp?instance=i-0`, token);

  test("C2.issuer has its sockets and event streams ended when its token ends, and comes back with the next one", async () => {
    await shareSession(hub);
    const endsAt = Math.floor(Date.now() / 1000) + 6;
    const short = await sign({ exp: endsAt });
    const [socket, events] = [await dial(short), await stream(hub.port, short)];
    await socket.initialize();
    const long = await dial(await sign({}));
    await long.initialize();
    await vi.waitFor(() => expect(socket.closed?.code).toBe(4401), { timeout: 20_000 });
    await events.ended;
    expect(events.text()).toContain('"code":4401');
    expect(Date.now()).toBeGreaterThanOrEqual(endsAt * 1000);
    expect(await long.call("session/list", {})).toHaveProperty("sessions");
    expect((await ask(hub.port, "/api/instances", { token: await sign({}) })).status).toBe(200);
  });

  test("C2.reread loses an open question on the socket it has when its rights shrink, and may not prompt there", async () => {
    const { agent } = await shareSession(hub);
    const socket = await dial(await sign({ groups: ["staff"] }));
    await socket.initialize();
    await socket.call("session/load", { sessionId: "s1", cwd: hub.workspace, mcpServers: [] });
    const options = [
      { optionId: "yes", name: "Allow", kind: "allow_once" },
      { optionId: "no", name: "Deny", kind: "reject_once" },
    ];
    const question = { sessionId: "s1", toolCall: { toolCallId: "t" }, options };
    void agent.ask("session/request_permission", question).catch(() => undefined);
    await socket.nextRequest("session/request_permission");
    // The same subject, in another group now, from another of its devices.
    expect((await ask(hub.port, "/api/instances", { token: await sign({ groups: ["guests"] }) })).status).toBe(200);
    await socket.nextNotification("$/cancel_request");
    await vi.waitFor(() => expect(socket.closed?.code).toBe(1001), { timeout: 10_000 });
    const viewer = await dial(await sign({ groups: ["guests"] }));
    await viewer.initialize();
    await expect(
      viewer.call("session/prompt", { sessionId: "s1", prompt: [{ type: "text", text: "go" }] }),
    ).rejects.toMatchObject({ code: -32003 });
  });

  test("C2.reread gets an open question on the socket it has when its rights grow", async () => {
    const { agent } = await shareSession(hub);
    const socket = await dial(await sign({ groups: ["guests"] }));
    await socket.initialize();
    await socket.call("session/load", { sessionId: "s1", cwd: hub.workspace, mcpServers: [] });
    const options = [{ optionId: "yes", name: "Allow", kind: "allow_once" }];
    const asked = agent.ask("session/request_permission", { sessionId: "s1", toolCall: { toolCallId: "t" }, options });
    const { token } = await hub.token("viewer");
    await expect
      .poll(async () => JSON.parse((await ask(hub.port, "/api/interactions", { token })).text))
      .toHaveLength(1);
    await socket.call("session/list", {});
    expect(socket.frames.some((frame) => frame.kind === "request")).toBe(false);
    expect((await ask(hub.port, "/api/instances", { token: await sign({ groups: ["helpers"] }) })).status).toBe(200);
    const question = await socket.nextRequest("session/request_permission");
    socket.answer(question.id, { outcome: { outcome: "selected", optionId: "yes" } });
    expect(await asked).toMatchObject({ outcome: { optionId: "yes" } });
  });

  test("C2.issuer stays out once it is revoked, sockets and all, over a restart", async () => {
    await shareSession(hub);
    const token = await sign({});
    const socket = await dial(token);
    const { token: admin } = await hub.token("owner");
    const listed = JSON.parse((await ask(hub.port, "/api/devices", { token: admin })).text) as {
      kind: string;
      deviceId: string;
    }[];
    const id = listed.find(({ kind }) => kind === "external")?.deviceId ?? "";
    expect(hub.running.auth.devices.get(deviceId(id))?.scopes).toHaveLength(4);
    expect((await ask(hub.port, `/api/devices/${id}`, { method: "DELETE", token: admin })).status).toBe(204);
    await expect.poll(() => socket.closed?.code).toBe(4401);
    await hub.restart();
    expect((await ask(hub.port, "/api/instances", { token: await sign({}) })).status).toBe(401);
  });
});
