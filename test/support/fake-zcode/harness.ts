/** The backend under test, the fake in memory behind it, a plain ACP client in front of it, and time in the test's hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { Backend } from "../../../src/backends/backend.ts";
import { type ZcodeConfig, zcodeBackend } from "../../../src/backends/zcode/backend.ts";
import type { Clock } from "../../../src/backends/zcode/clock.ts";
import type { ChildHandlers } from "../../../src/backends/zcode/process/child.ts";
import { MemorySessionMap, type SessionMap } from "../../../src/backends/zcode/sessions/session-map.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";
import type { Transport } from "../../../src/transport/transport.ts";
import { FakeZcode } from "./fake.ts";
import type { Scenario } from "./scenario.ts";

/** Lets everything settle that needs no time: promises, in-memory channels, small file reads. */
export async function settled(rounds = 12): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise((resolve) => setImmediate(resolve));
}

export class HandClock implements Clock {
  #now = 1_700_000_000_000;
  readonly #timers = new Set<{ at: number; run: () => void }>();

  now(): number {
    return this.#now;
  }

  setTimeout(run: () => void, ms: number): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** The computer sleeps: time goes on, and nothing runs meanwhile. */
  sleep(ms: number): void {
    this.#now += ms;
  }

  /** Moves time on, letting everything settle before and after each timer. */
  async advance(ms: number): Promise<void> {
    await settled(4);
    const end = this.#now + ms;
    for (;;) {
      let next: { at: number; run: () => void } | undefined;
      for (const timer of this.#timers) if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await settled(4);
    }
    this.#now = end;
    await settled(4);
  }
}

export interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  answer(result: Json): void;
  fail(code: number): void;
}

export interface Reply {
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
}

/** A client that records everything. */
export class TestClient {
  readonly #transport: Transport;
  readonly #replies = new Map<number, (reply: Reply) => void>();
  #nextId = 1;
  /** Every frame received, in order. */
  readonly frames: JsonObject[] = [];
  readonly asked: Asked[] = [];
  /** Ids of questions that were taken back. */
  readonly withdrawn: number[] = [];

  constructor(transport: Transport) {
    this.#transport = transport;
    transport.start({
      onFrame: (frame) => this.#receive(frame.msg as unknown as JsonObject),
      onJunk: () => {
        throw new Error("the backend sent junk");
      },
      onClose: () => {},
    });
  }

  request(method: string, params: JsonObject): Promise<Reply> {
    const id = this.#nextId++;
    this.#transport.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return new Promise((resolve) => this.#replies.set(id, resolve));
  }

  notify(method: string, params: JsonObject): void {
    this.#transport.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  initialize(clientCapabilities: JsonObject = {}): Promise<Reply> {
    return this.request("initialize", { protocolVersion: 1, clientCapabilities });
  }

  prompt(sessionId: string, text: string): Promise<Reply> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  close(): void {
    this.#transport.close();
  }

  get updates(): JsonObject[] {
    return this.frames.flatMap((frame) => {
      const update = frame["method"] === "session/update" ? objectAt(objectAt(frame, "params"), "update") : undefined;
      return update === undefined ? [] : [update];
    });
  }

  of(kind: string): JsonObject[] {
    return this.updates.filter((update) => update["sessionUpdate"] === kind);
  }

  notices(method: string): JsonObject[] {
    return this.frames.flatMap((frame) => (frame["method"] === method ? [objectAt(frame, "params") ?? {}] : []));
  }

  /** All agent text in order; `messageId` narrows it. */
  text(messageId?: string): string {
    return this.of("agent_message_chunk")
      .filter((update) => messageId === undefined || update["messageId"] === messageId)
      .map((update) => stringAt(objectAt(update, "content"), "text") ?? "")
      .join("");
  }

  get thoughts(): string {
    return this.of("agent_thought_chunk")
      .filter((update) => objectAt(objectAt(update, "_meta"), "zcode") === undefined)
      .map((update) => stringAt(objectAt(update, "content"), "text") ?? "")
      .join("");
  }

  /** A card with all its updates laid over each other. */
  card(toolCallId: string): JsonObject {
    const merged: JsonObject = {};
    for (const update of this.updates) if (update["toolCallId"] === toolCallId) Object.assign(merged, update);
    return merged;
  }

  /** Terminal output of a card, joined. */
  terminal(toolCallId: string): string {
    return this.updates
      .filter((update) => update["toolCallId"] === toolCallId)
      .map((update) => stringAt(objectAt(objectAt(update, "_meta"), "terminal_output"), "data") ?? "")
      .join("");
  }

  #receive(frame: JsonObject): void {
    this.frames.push(frame);
    const id = frame["id"];
    const method = stringAt(frame, "method");
    if (method === undefined) {
      if (typeof id === "number") this.#replies.get(id)?.(frame as unknown as Reply);
      return;
    }
    const params = objectAt(frame, "params") ?? {};
    if (method === "$/cancel_request" && typeof params["requestId"] === "number")
      this.withdrawn.push(params["requestId"]);
    if (typeof id !== "number") return;
    const send = (body: JsonObject): void => void this.#transport.send(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
    this.asked.push({
      id,
      method,
      params,
      answer: (result) => send({ result }),
      fail: (code) => send({ error: { code, message: "no" } }),
    });
  }
}

export interface Harness {
  readonly backend: Backend;
  readonly client: TestClient;
  readonly clock: HandClock;
  /** The fake of the newest start. */
  readonly fake: FakeZcode;
  readonly fakes: readonly FakeZcode[];
  readonly home: string;
  /** Time passes until `ready` holds; fails after `limitMs` of the test's time. */
  until(what: string, ready: () => boolean, limitMs?: number): Promise<void>;
  /** `work`, with time passing as needed. */
  settle<T>(work: Promise<T>, limitMs?: number): Promise<T>;
  /** A new session, ready for prompts. */
  newSession(cwd?: string): Promise<string>;
  /** Stops everything and fails on any violation a fake saw. */
  end(): Promise<void>;
}

export interface HarnessOptions {
  readonly config?: ZcodeConfig;
  readonly capabilities?: JsonObject;
  readonly home?: string;
  readonly store?: SessionMap;
  /** Stands between the fake and the backend: may drop, repeat or hold back lines. */
  readonly deliver?: (line: string, next: (line: string) => void) => void;
  /** Violations a test provokes on purpose. */
  readonly allows?: (violation: string) => boolean;
  /** Scenario of later starts; the first one by default, with the store kept. */
  readonly next?: Scenario;
}

const STEP_MS = 100;

const homes: string[] = [];
afterAll(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), "zcode-home-"));
  homes.push(home);
  return home;
}

export async function harness(scenario: Scenario, options: HarnessOptions = {}): Promise<Harness> {
  const clock = new HandClock();
  const fakes: FakeZcode[] = [];
  const home = options.home ?? makeHome();
  const start = (handlers: ChildHandlers): FakeZcode => {
    const before = fakes.at(-1);
    const fake = new FakeZcode(before === undefined ? scenario : (options.next ?? scenario), {
      clock,
      env: {},
      write: (line) =>
        setImmediate(() =>
          options.deliver === undefined
            ? handlers.onLine(line)
            : options.deliver(line, (next) => handlers.onLine(next)),
        ),
      exit: (code) => setImmediate(() => handlers.onExit({ code, signal: null, stderrTail: "fake ended" })),
    });
    for (const session of before?.sessions.values() ?? []) {
      session.isResident = false;
      session.isSubscribed = false;
      session.turn = undefined;
      session.state.status = "idle";
      fake.sessions.set(session.id, session);
    }
    fakes.push(fake);
    return fake;
  };
  const backend = zcodeBackend({
    config: { showsThinkingHint: false, ...options.config },
    env: {},
    home,
    clock,
    store: options.store ?? new MemorySessionMap(),
    plan: () => Promise.resolve({ command: "fake", args: ["app-server"], env: {} }),
    startChild: (_spec, handlers) => {
      const fake = start(handlers);
      return {
        write: (line) => setImmediate(() => fake.receive(line)),
        stop: () => {
          fake.exit(0);
          return Promise.resolve();
        },
      };
    },
  });
  const client = new TestClient(backend.start());
  await client.initialize(options.capabilities ?? {});
  const until = async (what: string, ready: () => boolean, limitMs = 60_000): Promise<void> => {
    await settled();
    for (let waited = 0; !ready(); waited += STEP_MS) {
      if (waited >= limitMs) throw new Error(`never happened: ${what}`);
      await clock.advance(STEP_MS);
    }
  };
  const settle = async <T>(work: Promise<T>, limitMs = 60_000): Promise<T> => {
    let isDone = false;
    const marked = work.finally(() => {
      isDone = true;
    });
    marked.catch(() => {});
    await until("the work settles", () => isDone, limitMs);
    return marked;
  };
  return {
    backend,
    client,
    clock,
    fakes,
    home,
    get fake(): FakeZcode {
      const last = fakes.at(-1);
      if (last === undefined) throw new Error("no app-server was started");
      return last;
    },
    until,
    settle,
    async newSession(cwd = "/project") {
      const reply = await settle(client.request("session/new", { cwd, mcpServers: [] }));
      return stringAt(reply.result, "sessionId") ?? "";
    },
    async end() {
      const stopping = backend.stop();
      await settle(stopping);
      const seen = fakes.flatMap((fake) => fake.violations).filter((violation) => options.allows?.(violation) !== true);
      if (seen.length > 0) throw new Error(`the app-server refused: ${seen.join("; ")}`);
    },
  };
}

/** Frames of one method the fake received. */
export const calls = (fake: FakeZcode, method: string): JsonObject[] =>
  fake.received
    .flatMap((frame) => (frame["method"] === method ? [objectAt(frame, "params") ?? {}] : []))
    .filter((params) => isObject(params) && Object.keys(params).length > 0);
