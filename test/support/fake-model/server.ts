/**
 * A model that lives on loopback and says what the test wrote down. Speaks the four APIs real agents use; calls that offer no tools
 * (titles, summaries, safety checks) are answered beside the script, so that a turn takes exactly the replies meant for it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { isObject, type JsonObject } from "../../../src/protocol/json.ts";
import { anthropic } from "./anthropic.ts";
import type { Dialect, ModelCall, Part } from "./dialect.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { type Reply, Script, type Step, says } from "./script.ts";

const DIALECTS: readonly Dialect[] = [openaiChat, openaiResponses, gemini, anthropic];
const ASIDE: Reply = [says("aside")];

export class FakeModel {
  /** Every call that took a reply of the script, in order. */
  readonly turns: ModelCall[] = [];
  /** Every call beside it. */
  readonly asides: ModelCall[] = [];
  /** Requests that are no model call: counted by method and path. */
  readonly others: string[] = [];
  /** Hosts somebody wanted to reach through this server, which is every agent's proxy too. */
  readonly outside: string[] = [];
  readonly script: Script = new Script();
  readonly #server: Server;
  readonly #waiters = new Set<() => void>();

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    server.on("connect", (request, socket) => this.#onTunnel(request.url ?? "", socket));
  }

  static start(): Promise<FakeModel> {
    const server = createServer();
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", () => resolve(new FakeModel(server)));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Queues one reply: what the model says to the next call of a turn. */
  reply(...steps: Step[]): void {
    this.script.push(...steps);
  }

  /** Resolves when the script has been asked `count` times in all. */
  async untilTurns(count: number): Promise<void> {
    while (this.turns.length < count) await new Promise<void>((resolve) => this.#waiters.add(resolve));
  }

  stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    return closed;
  }

  /** As a proxy it lets nobody out, and remembers who tried. Some agents come to their model through it as well. */
  #onTunnel(target: string, socket: Duplex): void {
    socket.on("error", () => socket.destroy());
    if (`http://${target}` !== this.url) {
      this.outside.push(target);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    const inner = connect((this.#server.address() as AddressInfo).port, "127.0.0.1");
    const drop = (): void => {
      inner.destroy();
      socket.destroy();
    };
    inner.once("error", drop).once("close", drop);
    socket.once("close", drop);
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    socket.pipe(inner).pipe(socket);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = new URL(request.url ?? "/", this.url);
    if (target.origin !== this.url) {
      this.outside.push(target.host);
      response.writeHead(403).end();
      return undefined;
    }
    const path = target.pathname;
    const body = await readJson(request);
    for (const dialect of DIALECTS) {
      const call = dialect.read(path, body);
      if (call !== undefined) return this.#answer(dialect, call, response);
    }
    this.others.push(`${request.method} ${path}`);
    return sendJson(response, otherAnswer(path));
  }

  async #answer(dialect: Dialect, call: ModelCall, response: ServerResponse): Promise<void> {
    const steps = this.#stepsFor(call);
    const replyId = `fake${this.turns.length + this.asides.length}`;
    const gone = new Promise<"gone">((resolve) => response.once("close", () => resolve("gone")));
    if (!call.isStreaming) return sendJson(response, dialect.whole(call, replyId, this.#parts(steps)));
    const writer = dialect.writer(call, replyId);
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.write(writer.begin());
    for (const step of steps) {
      if (step.kind !== "gate") response.write(writer.part(this.#part(step)));
      else if ((await Promise.race([step.opened, gone])) === "gone") return undefined;
    }
    response.end(writer.end());
    return undefined;
  }

  #stepsFor(call: ModelCall): Reply {
    const isTurn = call.tools.length > 0;
    (isTurn ? this.turns : this.asides).push(call);
    const steps = isTurn ? this.script.take() : ASIDE;
    for (const waiter of this.#waiters) waiter();
    this.#waiters.clear();
    return steps;
  }

  #part(step: Exclude<Step, { kind: "gate" }>): Part {
    return { ...step, id: this.script.nextToolId() };
  }

  #parts(steps: Reply): Part[] {
    return steps.flatMap((step) => (step.kind === "gate" ? [] : [this.#part(step)]));
  }
}

async function readJson(request: IncomingMessage): Promise<JsonObject> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function sendJson(response: ServerResponse, body: JsonObject): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Token counts and model lists: enough that nobody stumbles. */
const otherAnswer = (path: string): JsonObject =>
  path.endsWith("countTokens") ? { totalTokens: 10 } : { object: "list", data: [], models: [], input_tokens: 10 };
