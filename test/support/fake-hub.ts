/**
 * A scripted hub for browser tests: the contract's HTTP and WebSocket over the core's own journal, with every step in the
 * test's hand. It serves the built app under a strict policy and remembers every violation of it.
 */
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join, normalize } from "node:path";
import { WebSocketServer } from "ws";
import { rankPath } from "../../src/hub/http/rank-path.ts";
import type { Json, JsonObject } from "../../src/protocol/json.ts";
import { PRESETS } from "../../src/protocol/scopes.ts";
import { FakeConnection } from "./fake-hub-connection.ts";
import { FakeSession } from "./fake-hub-session.ts";
import { FakePush } from "./fake-push.ts";

export const POLICY: string =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; " +
  "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; report-uri /csp-report";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

interface FakeDevice {
  readonly id: string;
  name: string;
  readonly key: string;
  scopes: readonly string[];
  readonly createdAt: number;
}

export interface FakeInstance {
  readonly id: string;
  readonly name: string;
  readonly workspace: string;
  readonly sessions: FakeSession[];
  editor?: string;
}

export interface Answer {
  readonly status: number;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
}

const ok = (body: Json): Answer => ({ status: 200, body });
const problem = (status: number, code: string, detail: string): Answer => ({
  status,
  body: { type: "about:blank", title: code, status, detail, code },
});

export class FakeHub {
  readonly webRoot: string;
  readonly instances: FakeInstance[] = [];
  readonly history: JsonObject[] = [];
  readonly files: Map<string, string> = new Map();
  readonly devices: Map<string, FakeDevice> = new Map();
  readonly codes: Map<string, readonly string[]> = new Map();
  readonly usedCodes: Set<string> = new Set();
  readonly reports: string[] = [];
  readonly requests: string[] = [];
  readonly connections: Set<FakeConnection> = new Set();
  readonly push: FakePush = new FakePush();
  /** Whether its agent takes the texts of files. */
  takesTexts = false;
  readonly #streams = new Set<ServerResponse>();
  readonly #tickets = new Map<string, FakeDevice>();
  #server: Server | undefined;
  #port = 0;
  #nextId = 1;
  #eventId = 1;

  constructor(webRoot: string) {
    this.webRoot = webRoot;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  /** Listens; after `kill` on the same port. */
  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#onRequest(request, response));
    const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => "acp" });
    server.on("upgrade", (request, socket, head) => {
      const url = new URL(request.url ?? "/", this.url);
      const device = this.#tickets.get(url.searchParams.get("ticket") ?? "");
      this.#tickets.delete(url.searchParams.get("ticket") ?? "");
      if (url.pathname !== "/acp" || device === undefined || !this.devices.has(device.id)) {
        socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n");
        return;
      }
      sockets.handleUpgrade(request, socket, head, (ws) => {
        const by = { connectionId: `c${this.#nextId++}`, device: device.id, name: device.name };
        const connection = new FakeConnection(ws, by, this.#host(device));
        this.connections.add(connection);
        ws.on("close", () => this.connections.delete(connection));
      });
    });
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    const address = server.address();
    if (typeof address === "object" && address !== null) this.#port = address.port;
    this.#server = server;
  }

  /** Gone at once, as by a kill: no close frames, nothing listens. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const connection of this.connections) connection.terminate();
    this.connections.clear();
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  }

  addInstance(name: string, workspace: string): FakeInstance {
    const instance: FakeInstance = { id: `i${this.#nextId++}`, name, workspace, sessions: [] };
    this.instances.push(instance);
    return instance;
  }

  addSession(instance: FakeInstance, sessionId: string, title: string): FakeSession {
    const session = new FakeSession(
      sessionId,
      title,
      instance.workspace,
      () => this.event(),
      () => this.connections,
    );
    instance.sessions.push(session);
    return session;
  }

  /** A pairing code; gives the link a person opens. */
  pairing(code: string, preset: keyof typeof PRESETS = "owner"): string {
    this.codes.set(code, PRESETS[preset]);
    return `${this.url}#pair=${code}`;
  }

  /** Takes a device's access away: its sockets close, its calls get 401. */
  revoke(id: string): void {
    this.devices.delete(id);
    for (const connection of this.connections) if (connection.by.device === id) connection.close(4401);
  }

  /** Tells the event streams that something changed. */
  event(name = "sessions-changed"): void {
    this.#eventId += 1;
    for (const stream of this.#streams) stream.write(`id: ${this.#position}\nevent: ${name}\ndata: {}\n\n`);
  }

  get #position(): string {
    return `f.${this.#eventId}`;
  }

  *sessions(): Iterable<FakeSession> {
    for (const instance of this.instances) yield* instance.sessions;
  }

  session(id: string, instanceId?: string): FakeSession | undefined {
    const holding = this.instances.filter((instance) => instance.sessions.some(({ sessionId }) => sessionId === id));
    const instance = holding.find((each) => each.id === instanceId) ?? holding[0];
    return instance?.sessions.find(({ sessionId }) => sessionId === id);
  }

  #host(device: FakeDevice) {
    return {
      scopes: device.scopes,
      session: (id: string, instanceId?: string) => this.session(id, instanceId),
      sessions: () => this.sessions(),
      newSession: (cwd: string) => {
        const instance = this.instances.find((other) => other.workspace === cwd) ?? this.instances[0];
        if (instance === undefined) throw new Error("no instance");
        return this.addSession(instance, `s${this.#nextId++}`, "New session");
      },
      agent: (session: FakeSession): JsonObject => ({
        instance: this.instances.find(({ sessions }) => sessions.includes(session))?.id ?? "",
        agentInfo: { name: "fake", title: "Fake agent", version: "1" },
        agentCapabilities: { promptCapabilities: { image: true, embeddedContext: this.takesTexts } },
      }),
    };
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    this.requests.push(`${request.method} ${url.pathname}`);
    if (url.pathname === "/csp-report") {
      this.reports.push(body);
      response.writeHead(204).end();
    } else if (url.pathname === "/api/events") {
      this.#openStream(url, String(request.headers["last-event-id"]), response);
    } else if (url.pathname.startsWith("/api/")) await this.#api(request, url, body, response);
    else await this.#static(url.pathname, response);
  }

  #openStream(url: URL, lastId: string, response: ServerResponse): void {
    const ticket = url.searchParams.get("ticket") ?? "";
    if (!this.#tickets.delete(ticket)) {
      response.writeHead(401).end();
      return;
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write("event: hello\ndata: {}\n\n");
    if (lastId !== this.#position) response.write(`id: ${this.#position}\nevent: reset\ndata: {}\n\n`);
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
  }

  async #static(path: string, response: ServerResponse): Promise<void> {
    const file = join(this.webRoot, normalize(path === "/" ? "index.html" : path));
    try {
      const content = await readFile(file);
      response.writeHead(200, {
        "Content-Type": TYPES[extname(file)] ?? "application/octet-stream",
        "Content-Security-Policy": POLICY,
      });
      response.end(content);
    } catch {
      response.writeHead(404, { "Content-Security-Policy": POLICY }).end("not found");
    }
  }

  async #api(request: IncomingMessage, url: URL, body: string, response: ServerResponse): Promise<void> {
    const key = String(request.headers["x-acp-hub-key"] ?? "");
    const input = body === "" ? {} : (JSON.parse(body) as JsonObject);
    const device = [...this.devices.values()].find((other) => other.key === key);
    const method = request.method ?? "GET";
    const open = url.pathname === "/api/pair" || url.pathname === "/api/health";
    const answer =
      device === undefined && !open
        ? problem(401, "unauthorized", "No credential")
        : await this.#route(method, url, input, device);
    const text = answer.text ?? (answer.body === undefined ? "" : JSON.stringify(answer.body));
    const headers = { "Content-Type": "application/json", "Acp-Event-Id": this.#position, ...answer.headers };
    response.writeHead(answer.status, headers);
    response.end(text);
  }

  async #route(method: string, url: URL, input: JsonObject, device: FakeDevice | undefined): Promise<Answer> {
    const [, , first = "", second = "", third = "", fourth = "", fifth = ""] = url.pathname.split("/");
    switch (`${method} ${first}`) {
      case "GET health":
        return { status: 200, text: "ok", headers: { "Content-Type": "text/plain" } };
      case "POST pair":
        return this.#pair(String(input["code"]), String(input["name"]));
      case "POST ws-ticket":
        return this.#ticket(device);
      case "GET devices":
        return ok([...this.devices.values()].map((other) => ({ ...deviceView(other), isThis: other === device })));
      case "PATCH devices":
        for (const other of this.devices.values()) if (other.id === second) other.name = String(input["name"]);
        return ok({});
      case "DELETE devices":
        this.revoke(second);
        return { status: 204 };
      case "POST pairings":
        this.pairing("NEXT-CODE", input["scope"] as keyof typeof PRESETS);
        return {
          status: 201,
          body: { code: "NEXT-CODE", url: `${this.url}#pair=NEXT-CODE`, expiresAt: Date.now() + 300_000 },
        };
      case "GET instances":
        return third === "fs" ? this.#file(fourth, url.searchParams) : ok(this.instances.map(instanceView));
      case "POST instances":
        return this.#sessionAction(fourth, fifth, input);
      case "GET interactions":
        return ok(
          [...this.sessions()].flatMap((session) =>
            [...session.asks.values()].map((ask) => ({ ...ask, copies: null, answered: null, instanceId: "i1" })),
          ) as Json,
        );
      case "POST interactions":
        return this.#answer(second, input["answer"] ?? null, device);
      case "GET sessions":
        return third === "export"
          ? { status: 200, text: "# Exported", headers: { "Content-Type": "text/markdown" } }
          : this.#history(url.searchParams.get("q") ?? "");
      case "GET projects":
        return ok(this.instances.map((instance) => ({ workspace: instance.workspace })));
      case "GET push":
      case "PATCH push":
      case "PUT push":
        return this.push.route(`${method} ${second}`, input, device?.id ?? "");
      case "POST logout":
        if (device !== undefined) this.revoke(device.id);
        return { status: 204 };
      default:
        return problem(404, "not-found", "There is nothing here");
    }
  }

  #pair(code: string, name: string): Answer {
    const scopes = this.codes.get(code);
    if (scopes === undefined) return problem(401, "pairing-refused", "The pairing code is not valid");
    this.codes.delete(code);
    this.usedCodes.add(code);
    const key = `key-${this.#nextId}`;
    const device: FakeDevice = { id: `d${this.#nextId++}`, name, key, scopes, createdAt: Date.now() };
    this.devices.set(device.id, device);
    return {
      status: 201,
      body: { deviceId: device.id, scopes: [...scopes], key },
      headers: { "Set-Cookie": "acp-hub-1=x; HttpOnly; SameSite=Strict" },
    };
  }

  #ticket(device: FakeDevice | undefined): Answer {
    const ticket = `t${this.#nextId++}`;
    if (device !== undefined) this.#tickets.set(ticket, device);
    return { status: 201, body: { ticket, expiresIn: 30 } };
  }

  #answer(interactionId: string, answer: Json, device: FakeDevice | undefined): Answer {
    const by = { connectionId: `http:${device?.id ?? ""}`, device: device?.id ?? "", name: device?.name ?? "" };
    const session = [...this.sessions()].find((other) => other.asks.has(interactionId));
    if (session === undefined)
      return { status: 409, body: { code: "lost-race", detail: "Settled already", settledBy: { name: "Zed" } } };
    session.settle(interactionId, answer, by);
    return ok({ settledBy: { ...by } });
  }

  #history(query: string): Answer {
    const found = this.history.filter(
      (entry) => query === "" || JSON.stringify(entry).toLowerCase().includes(query.toLowerCase()),
    );
    return ok({ sessions: found });
  }

  #file(kind: string, query: URLSearchParams): Answer {
    const path = query.get("path") ?? "";
    if (kind === "search") return this.#search(query.get("q") ?? "");
    if (kind === "list") {
      const names = [...this.files.keys()].filter((name) => path === "" || name.startsWith(`${path}/`));
      if (path !== "" && names.length === 0) return problem(404, "not-found", "No such folder");
      const depth = path === "" ? 0 : path.split("/").length;
      const entries = new Map(names.map((name) => [name.split("/")[depth] ?? "", name.split("/").length > depth + 1]));
      return ok({
        entries: [...entries].map(([name, isFolder]) => ({
          name,
          path: path === "" ? name : `${path}/${name}`,
          type: isFolder ? "directory" : "file",
        })),
      });
    }
    const content = this.files.get(path);
    if (content === undefined) return problem(404, "not-found", "No such file");
    const line = Number(query.get("line") ?? 1);
    return {
      status: 200,
      text: content
        .split("\n")
        .slice(line - 1, line - 1 + Number(query.get("limit") ?? 1e9))
        .join("\n"),
      headers: { "Content-Type": "text/plain" },
    };
  }

  #search(query: string): Answer {
    const found = [...this.files.keys()]
      .map((path) => ({ path, rank: rankPath(query.toLowerCase(), path) }))
      .filter((each): each is { path: string; rank: number } => each.rank !== undefined)
      .sort((a, b) => b.rank - a.rank);
    const entries = found.map(({ path }) => ({
      path,
      name: path.slice(path.lastIndexOf("/") + 1),
      uri: `file:///work/relay/${path}`,
    }));
    return ok({ entries, truncated: false });
  }

  #sessionAction(sessionId: string, action: string, input: JsonObject): Answer {
    const session = this.session(sessionId);
    if (session === undefined) return problem(404, "unknown-session", "No such session");
    if (action === "rename") {
      session.title = String(input["title"]);
      session.emit({ sessionUpdate: "session_info_update", title: session.title });
      this.event();
    }
    return ok({});
  }
}

const deviceView = ({ id, name, scopes, createdAt }: FakeDevice): JsonObject => ({
  id,
  name,
  scopes: [...scopes],
  createdAt,
  lastSeenAt: Date.now(),
  kind: "browser",
});

const instanceView = (instance: FakeInstance): JsonObject => ({
  id: instance.id,
  name: instance.name,
  workspace: instance.workspace,
  origin: "editor",
  editor: instance.editor ?? null,
  startedAt: 1,
  agent: { name: instance.name, title: null, version: "1" },
  clients: 2,
  sessions: instance.sessions.map((session) => ({
    sessionId: session.sessionId,
    title: session.title,
    cwd: session.cwd,
    branch: session.branch ?? null,
    status: session.turn,
    updatedAt: session.updatedAt,
    openInteractions: session.asks.size,
    turnSince: session.turnSince ?? null,
    lastText: session.last?.text ?? null,
    lastFrom: session.last?.from ?? null,
    ...(session.supersededBy !== undefined && { superseded: true, supersededBy: session.supersededBy }),
  })),
});
