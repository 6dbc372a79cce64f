/** A stage for end-to-end tests: a home with a hub, bridges of scripted agents, remote clients; and the proof that nothing is left. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { WebSocket } from "ws";
import { type ApiResponse, callHub, type HubInfo, readHubInfo } from "../../src/cli/local-api.ts";
import { type Paths, resolvePaths } from "../../src/config/paths.ts";
import type { InstanceView } from "../../src/hub/http/views.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { webSocketTransport } from "../../src/transport/websocket.ts";
import { Home, SCRIPTED_AGENT } from "./cli.ts";
import { isRunning } from "./processes.ts";
import { connectClient, RawClient } from "./raw-client.ts";

export interface Shared {
  readonly editor: RawClient;
  readonly child: ReturnType<Home["bridge"]>["child"];
  readonly sessionId: string;
}

/** The arguments of `bridge` that run the scripted agent with this script. */
export const scripted = (script: JsonObject = {}): string[] => [
  "--",
  process.execPath,
  SCRIPTED_AGENT,
  JSON.stringify(script),
];

export const textPrompt = (sessionId: string, text: string): JsonObject => ({
  sessionId,
  prompt: [{ type: "text", text }],
});

export const loadOf = (sessionId: string, ours: JsonObject = {}): JsonObject => ({
  sessionId,
  cwd: "/",
  mcpServers: [],
  _meta: { "acp-hub": ours },
});

/** What an editor does first: initialize and a new session. Declares nothing of ours unless told otherwise. */
export async function openSession(editor: RawClient, capabilities: JsonObject = {}): Promise<string> {
  await editor.initialize(capabilities);
  return String((await editor.call("session/new", { cwd: "/", mcpServers: [] }))["sessionId"]);
}

export class Stage {
  readonly home: Home = new Home();
  readonly paths: Paths = resolvePaths(this.home.dir);
  url = "";
  readonly #tokens = new Map<string, string>();
  readonly #clients: RawClient[] = [];

  /** Starts a hub; `url` is where it listens. */
  async serve(
    args: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<Awaited<ReturnType<Home["serve"]>>> {
    const hub = await this.home.serve(args, undefined, env);
    this.url = hub.url;
    return hub;
  }

  /** An editor with a session of its own. */
  async share(
    script: JsonObject = {},
    args: readonly string[] = [],
    capabilities: JsonObject = {},
    env: Record<string, string> = {},
  ): Promise<Shared> {
    const { editor, child } = this.home.bridge([...args, ...scripted(script)], { env });
    const sessionId = await openSession(editor, capabilities);
    return { editor, child, sessionId };
  }

  async instances(): Promise<InstanceView[]> {
    const response = await this.api("GET", "/api/instances").catch(() => undefined);
    return response?.status === 200 ? (response.body as InstanceView[]) : [];
  }

  /**
   * Waits until the hub has heard of a session; its editor may know it first. Asked by a route that knows unused ones, too, which no
   * list shows.
   */
  async known(sessionId: string, timeoutMs = 10_000): Promise<string> {
    const query = new URLSearchParams({ sessionId });
    for (const deadline = Date.now() + timeoutMs; ; ) {
      for (const { id } of await this.instances()) {
        const { status } = await this.api("GET", `/api/instances/${id}/fs/list?${query}`);
        // Known, whether or not its directory may be read.
        if (status === 200 || status === 403) return sessionId;
      }
      if (Date.now() > deadline) throw new Error(`the hub never heard of session ${sessionId}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Waits until so many instances are linked; gives them by start time. */
  async linked(count = 1, timeoutMs = 10_000): Promise<InstanceView[]> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const found = (await this.instances()).filter((instance) => instance.state === "up");
      if (found.length === count) return found;
      if (Date.now() > deadline) throw new Error(`${found.length} instances are linked, not ${count}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  api(method: string, path: string, body?: unknown): Promise<ApiResponse> {
    return callHub(this.paths, method, path, body);
  }

  hubInfo(): Promise<HubInfo | undefined> {
    return readHubInfo(this.paths);
  }

  /** A token of a preset; the same one each time. */
  async token(preset: string): Promise<string> {
    const known = this.#tokens.get(preset);
    if (known !== undefined) return known;
    const made = await this.api("POST", "/api/tokens", { scope: preset, name: preset });
    const token = String((made.body as JsonObject)["token"]);
    this.#tokens.set(preset, token);
    return token;
  }

  acp(query = ""): string {
    return `${this.url.replace(/^http/, "ws")}/acp${query}`;
  }

  /** A remote client on `/acp`, initialized. */
  async client(preset: string, query = "", capabilities?: JsonObject): Promise<RawClient> {
    const client = await connectClient(this.acp(query), await this.token(preset));
    this.#clients.push(client);
    await client.initialize(capabilities);
    return client;
  }

  /** Ends everything and says what would not end. */
  async end(): Promise<void> {
    for (const client of this.#clients) client.close();
    // Bridges first: one that sees its hub end starts another.
    for (const word of [" bridge ", " serve "]) {
      const found = processesOf(this.home.dir).filter(({ command }) => command.includes(word));
      for (const { pid } of found) for (const signal of ["SIGCONT", "SIGTERM"] as const) tell(pid, signal);
      await until(() => found.every(({ pid }) => !isRunning(pid)), 10_000);
    }
    await this.home.remove();
    const isClean = await until(() => processesOf(this.home.dir).length === 0, 8000);
    if (isClean) return;
    const left = processesOf(this.home.dir);
    for (const { pid } of left) tell(pid, "SIGKILL");
    throw new Error(`left running: ${left.map(({ pid, command }) => `${pid} ${command}`).join("; ")}`);
  }
}

/** Waits for a fact; false when it has not come true in time. */
export async function until(isTrue: () => boolean, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while (!isTrue()) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}

/** A signal to a process that may be gone by now. */
function tell(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is.
  }
}

export interface Found {
  readonly pid: number;
  readonly command: string;
}

/** Every process that was started with this home as its HOME: bridges, hubs, and the agents below them. Linux only. */
export function processesOf(home: string): Found[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const read = (file: string): string => {
        try {
          return readFileSync(join("/proc", name, file), "utf8");
        } catch {
          return "";
        }
      };
      if (!read("environ").split("\0").includes(`HOME=${home}`) || !isRunning(Number(name))) return [];
      return [{ pid: Number(name), command: read("cmdline").replaceAll("\0", " ").slice(0, 200) }];
    });
}

/** An upgrade without the usual header: the socket, or the status it was refused with. */
export function upgrade(
  url: string,
  options: { protocols?: string[]; headers?: Record<string, string> } = {},
): Promise<{ ws: WebSocket; client: () => RawClient } | { status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, options.protocols ?? [], { headers: options.headers ?? {} });
    ws.once("unexpected-response", (_request, response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    ws.once("error", reject);
    ws.once("open", () =>
      resolve({ ws, client: () => new RawClient(webSocketTransport(ws, { maxPayloadBytes: 67_108_864 })) }),
    );
  });
}
