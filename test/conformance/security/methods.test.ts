import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { PRESETS, type Preset, type Scope } from "../../../src/protocol/scopes.ts";
import { type PuppetAgent, puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, type RawClient, RpcFailed, rawClient } from "../../support/raw-client.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";
import { type MethodEntry, type Needs, NOTIFICATIONS, REQUESTS } from "./method-table.ts";

/** The presets, and credentials between them that tell "prompt" from "prompt and answer" and either from "admin". */
const CREDENTIALS: Readonly<Record<string, readonly Scope[]>> = {
  ...PRESETS,
  "sessions:read sessions:prompt": ["sessions:read", "sessions:prompt"],
  "sessions:read admin": ["sessions:read", "admin"],
};

function isAllowed(needs: Needs, scopes: readonly Scope[]): boolean {
  const [prompt, answer] = [scopes.includes("sessions:prompt"), scopes.includes("interactions:answer")];
  switch (needs) {
    case "read":
      return true;
    case "answer|prompt":
      return answer || prompt;
    case "prompt":
      return prompt;
    case "prompt+answer":
      return prompt && answer;
    case "admin":
      return scopes.includes("admin");
    case "nobody":
      return false;
  }
}

describe.each(["/acp?instance=i-0", "/acp"])("every ACP method on %s and who may use it", (path) => {
  let hub: SecureHub;
  let agent: PuppetAgent;
  let editor: RawClient;
  const clients = new Map<string, RawClient>();
  let running: string | number | null | undefined;

  beforeAll(async () => {
    hub = await startSecureHub();
    agent = puppetAgent({ sessionCapabilities: { fork: {} } });
    for (const method of ["session/load", "session/resume", "session/close"]) agent.on(method, () => ({}));
    agent.on("session/fork", () => ({ sessionId: "forked" }));
    agent.on("session/prompt", (params, id) => {
      if (JSON.stringify(params).includes("hang")) {
        running = id;
        return undefined;
      }
      return { stopReason: "end_turn" };
    });
    editor = rawClient(hub.bridge(agent.backend).editor);
    await editor.initialize({});
    await editor.call("session/new", { cwd: hub.workspace, mcpServers: [] });
    const sessions = () => [...(hub.running.hub.registry.get("i-0")?.mirror.sessions ?? [])].length;
    await vi.waitFor(() => expect(sessions()).toBe(1), { timeout: 20_000 });
    for (const scope of Object.keys(CREDENTIALS)) {
      const client = await connectClient(`ws://127.0.0.1:${hub.port}${path}`, (await hub.token(scope)).token);
      await client.initialize();
      clients.set(scope, client);
    }
  });
  afterAll(() => hub.stop());

  /** A live session for one row of the table. */
  async function liveSession(): Promise<string> {
    const { sessionId } = await editor.call("session/new", { cwd: hub.workspace, mcpServers: [] });
    const id = String(sessionId);
    await vi.waitFor(() => expect(hub.running.hub.registry.get("i-0")?.mirror.holdsSession(id)).toBe(true), {
      timeout: 20_000,
    });
    return id;
  }

  /** `cold`: a session no instance has. Another one each time: once loaded it is live. */
  function paramsFor({ params }: MethodEntry, live: string, cold: string): JsonObject {
    const isCold = params?.["sessionId"] === "cold";
    return { cwd: hub.workspace, ...params, sessionId: isCold ? cold : live };
  }
  const seen = (method: string, from: number): boolean =>
    agent.calls.slice(from).some((call) => call.method === method);
  /** Resolves when the agent has seen all the hub let through before: there is one way to it, and one order on it. */
  async function agentHasAll(): Promise<void> {
    await clients.get("owner")?.call("_test/after", { sessionId: "s1" }).catch(codeOf);
    expect(agent.calls.at(-1)?.method).toBe("_test/after");
  }
  const codeOf = (error: unknown): number | undefined => (error instanceof RpcFailed ? error.code : undefined);

  test.each(REQUESTS.map((entry) => [entry.method, entry.note ?? entry.needs, entry] as const))(
    "C2.methods request %s (%s)",
    async (method, _, entry) => {
      let live = await liveSession();
      for (const [scope, scopes] of Object.entries(CREDENTIALS)) {
        const client = clients.get(scope);
        if (method === "session/close") live = await liveSession();
        const before = agent.calls.length;
        const code = await client?.call(method, paramsFor(entry, live, `${live} ${scope}`)).then(() => 0, codeOf);
        if (isAllowed(entry.needs, scopes)) {
          expect(code, scope).not.toBe(-32003);
          if (entry.reachesAgent === true) expect(seen(method, before), scope).toBe(true);
        } else {
          const word = entry.needs === "nobody" && scopes.includes("sessions:prompt") ? [-32601, -32003] : [-32003];
          expect(word, scope).toContain(code);
          await agentHasAll();
          expect(seen(method, before), scope).toBe(false);
        }
      }
    },
  );

  test.each(NOTIFICATIONS.map((entry) => [entry.method, entry.needs, entry] as const))(
    "C2.methods, incident 13: notification %s (%s) reaches the agent or is dropped and counted",
    async (method, _, entry) => {
      const live = await liveSession();
      for (const [scope, scopes] of Object.entries(CREDENTIALS)) {
        const client = clients.get(scope);
        const before = agent.calls.length;
        client?.notify(method, paramsFor(entry, live, `${live} ${scope}`));
        await client?.call("session/list", {});
        await agentHasAll();
        const mayNotify = isAllowed(entry.needs, scopes) && scopes.includes("sessions:prompt");
        expect(seen(method, before), scope).toBe(mayNotify);
      }
    },
  );

  test("C2.scopes what is dropped is counted", async () => {
    const metrics = await hub.running.hub.metrics.metrics.metrics();
    const count = Number(/mirror_events_total\{kind="notification-refused"\} (\d+)/.exec(metrics)?.[1] ?? 0);
    expect(count).toBeGreaterThan(NOTIFICATIONS.length);
  });

  test("C2.methods session/cancel ends a turn for who may answer or prompt, and is nothing from a viewer", async () => {
    for (const [scope, scopes] of Object.entries(CREDENTIALS)) {
      const live = await liveSession();
      running = undefined;
      const ended = editor.call("session/prompt", { sessionId: live, prompt: [{ type: "text", text: "hang" }] });
      await vi.waitFor(() => expect(running).toBeDefined(), { timeout: 10_000 });
      const before = agent.calls.length;
      const client = clients.get(scope);
      client?.notify("session/cancel", { sessionId: live });
      await client?.call("session/list", {});
      await agentHasAll();
      expect(seen("session/cancel", before), scope).toBe(isAllowed("answer|prompt", scopes));
      agent.wire.answer(running ?? 0, { stopReason: "cancelled" });
      await ended;
    }
  });

  test("C2.methods nothing but initialize is served before initialize, by anyone", async () => {
    for (const preset of Object.keys(PRESETS) as Preset[]) {
      const early = await connectClient(`ws://127.0.0.1:${hub.port}${path}`, (await hub.token(preset)).token);
      const before = agent.calls.length;
      early.notify("something/early", {});
      for (const method of ["session/list", "session/new", "session/prompt", "_vendor/something"])
        expect(await early.call(method, {}).catch(codeOf)).toBe(-32600);
      await agentHasAll();
      expect(agent.calls.slice(before)).toHaveLength(1);
      early.close();
    }
  });
});
