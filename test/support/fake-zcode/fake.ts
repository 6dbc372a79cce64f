/**
 * A stand-in for ZCode's app-server, as strict as the real one: it refuses what that refuses, checks every answer, asks
 * again until it is answered, and records every frame. A test fails on any violation it saw.
 */
import type { Clock } from "../../../src/backends/zcode/clock.ts";
import { isObject, type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";
import { FakeAsks } from "./asks.ts";
import { type Knobs, type Profile, PROFILES, type PromptScript, type Scenario } from "./scenario.ts";
import { envelopeProblem, paramProblem } from "./schemas.ts";
import { FakeSession } from "./session.ts";
import { TurnRunner } from "./turn.ts";

export interface FakePorts {
  readonly clock: Clock;
  /** One line to the client. */
  write(line: string): void;
  /** The process ends. */
  exit(code: number): void;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export class RpcProblem extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const DEFAULT_MODELS: readonly JsonObject[] = [
  {
    ref: { providerId: "zai", modelId: "GLM-5.3" },
    label: "GLM-5.3",
    contextWindow: 200_000,
    reasoning: { levels: [{ value: "high", label: "High" }, { value: "max", label: "Max" }], defaultLevel: "high" },
  },
  { ref: { providerId: "zai", modelId: "GLM-5.3-Flash" }, label: "GLM-5.3-Flash", contextWindow: 128_000 },
];
/** Asked without parameters only to learn whether a method exists: answered like any other, but no violation. */
const PROBED = new Set(["session/subscribe"]);

export class FakeZcode {
  readonly sessions = new Map<string, FakeSession>();
  readonly received: JsonObject[] = [];
  readonly sent: JsonObject[] = [];
  readonly violations: string[] = [];
  readonly asks: FakeAsks;
  readonly profile: Profile;
  readonly knobs: Knobs;
  readonly clock: Clock;
  readonly #ports: FakePorts;
  readonly #scripts: PromptScript[];
  readonly #runner: TurnRunner;
  readonly #gates = new Map<string, { isOpen: boolean; wakes: Set<() => void> }>();
  #early: string[] | undefined;
  #outbox: (() => void)[] = [];
  #busyLeft: number;
  #nextSession = 1;
  isDead = false;

  constructor(scenario: Scenario, ports: FakePorts) {
    this.profile = PROFILES[scenario.profile ?? "0.16.9"];
    this.knobs = scenario.knobs ?? {};
    this.clock = ports.clock;
    this.#ports = ports;
    this.#scripts = [...(scenario.prompts ?? [])];
    this.#busyLeft = this.knobs.busy?.times ?? 0;
    for (const stored of scenario.sessions ?? []) {
      const session = new FakeSession(stored);
      session.isResident = false;
      session.model = { providerId: "zai", modelId: "GLM-5.3" };
      session.thought = "high";
      this.sessions.set(session.id, session);
    }
    this.asks = new FakeAsks({
      clock: ports.clock,
      hasNumericIds: this.profile.hasNumericIds,
      write: (frame) => this.write(frame),
      violation: (text) => void this.violations.push(text),
    });
    this.#runner = new TurnRunner(this);
    this.#boot();
  }

  #boot(): void {
    const { env } = this.#ports;
    const hasBoth = env?.["ZCODE_BUILTIN_PROVIDER_CONFIG_FILE"] !== undefined && env["ZCODE_PERSONAL_PROVIDER_CONFIG_FILE"] !== undefined;
    if (this.knobs.needsProviderEnv === true && !hasBoth) return this.exit(1);
    const delay = this.knobs.bootDelayMs;
    if (delay === undefined) return;
    this.#early = [];
    this.clock.setTimeout(() => {
      const early = this.#early ?? [];
      this.#early = undefined;
      this.write({ method: "startup/storageState", params: { schemaVersion: 1, attemptId: "a", sequence: 1, databaseId: "d", databaseKind: "session", phase: "ready", elapsedMs: delay } });
      if (this.knobs.bootDropsFrames !== true) for (const line of early) this.receive(line);
    }, delay);
  }

  /** Opens a gate a script waits at. */
  go(name: string): void {
    const gate = this.gate(name);
    gate.isOpen = true;
    for (const wake of gate.wakes) wake();
  }

  gate(name: string): { isOpen: boolean; wakes: Set<() => void> } {
    const known = this.#gates.get(name) ?? { isOpen: false, wakes: new Set() };
    this.#gates.set(name, known);
    return known;
  }

  exit(code: number): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#ports.exit(code);
  }

  write(frame: JsonObject): void {
    if (this.isDead) return;
    this.sent.push(frame);
    this.#ports.write(JSON.stringify(frame));
  }

  /** A line that is no frame of ours: noise, half a frame, anything. */
  writeRaw(line: string): void {
    if (!this.isDead) this.#ports.write(line);
  }

  /** One line from the client. */
  receive(line: string): void {
    if (this.isDead) return;
    if (this.#early !== undefined) {
      this.#early.push(line);
      return;
    }
    let frame: unknown;
    try {
      frame = JSON.parse(line);
    } catch {
      this.violations.push("a line that is not JSON");
      return;
    }
    if (!isObject(frame)) return void this.violations.push("a frame that is no object");
    this.received.push(frame);
    const problem = envelopeProblem(frame);
    const id = frame["id"];
    if (problem !== undefined) {
      this.violations.push(problem);
      this.write({ id: id ?? null, error: { code: -32600, message: problem } });
      return;
    }
    const method = stringAt(frame, "method");
    if (typeof id !== "string" && typeof id !== "number") {
      this.violations.push(`notification ${method ?? "?"} is ignored`);
      return;
    }
    if (method === undefined) return this.asks.answered(id, frame["result"], frame["error"]);
    void this.#serve(id, method, objectAt(frame, "params") ?? {});
  }

  /** Runs after the response of the current request was written. */
  afterResponse(run: () => void): void {
    this.#outbox.push(run);
  }

  async #serve(id: string | number, method: string, params: JsonObject): Promise<void> {
    const outbox: (() => void)[] = [];
    try {
      const result = await this.#call(method, params, outbox);
      this.write({ id, result });
    } catch (error) {
      const code = error instanceof RpcProblem ? error.code : -32603;
      this.write({ id, error: { code, message: error instanceof Error ? error.message : "failed" } });
    }
    for (const run of outbox) run();
  }

  async #call(method: string, params: JsonObject, outbox: (() => void)[]): Promise<JsonObject> {
    if (!this.#exists(method)) throw new RpcProblem(-32601, `Method not found: ${method}`);
    const problem = paramProblem(method, params);
    if (problem !== undefined) {
      const isProbe = PROBED.has(method) && Object.keys(params).length === 0;
      if (!isProbe) this.violations.push(`${method}: ${problem}`);
      throw new RpcProblem(-32602, problem);
    }
    this.#outbox = outbox;
    const handler = this.#handlers[method];
    if (handler === undefined) throw new RpcProblem(-32601, `Method not found: ${method}`);
    return handler(params);
  }

  #exists(method: string): boolean {
    if (method === "session/subscribe") return this.profile.hasSubscribe;
    if (method === "v4/command") return this.profile.hasV4;
    if (["session/steer", "session/rewind", "session/rewindCascade"].includes(method)) return this.profile.hasLegacySteer;
    return true;
  }

  /** The session, or the two refusals that share a code. */
  session(params: JsonObject, mustBeResident = true): FakeSession {
    const id = stringAt(params, "sessionId") ?? "";
    const session = this.sessions.get(id);
    if (session === undefined || this.knobs.unknownSessions?.includes(id) === true) throw new RpcProblem(-32004, `Session not found: ${id}`);
    if (mustBeResident && !session.isResident) throw new RpcProblem(-32004, "Session is not active");
    return session;
  }

  get models(): readonly JsonObject[] {
    return this.knobs.models ?? DEFAULT_MODELS;
  }

  snapshot(session: FakeSession, isFull: boolean): JsonObject {
    const current = this.models.filter((model) => stringAt(objectAt(model, "ref"), "modelId") === stringAt(session.model, "modelId"));
    return session.snapshot(isFull ? this.models : current, isFull ? (this.knobs.slashCommands ?? []) : undefined);
  }

  /** Throws when a model that has levels comes without one. */
  checkModel(model: unknown): JsonObject {
    const modelId = typeof model === "string" ? model : isObject(model) ? stringAt(model, "modelId") : undefined;
    const known = this.models.find((entry) => stringAt(objectAt(entry, "ref"), "modelId") === modelId);
    if (known === undefined) throw new RpcProblem(-32031, "Model is not available");
    if (typeof model === "string" && this.profile.takesModelObject) throw new RpcProblem(-32602, 'Invalid params: "model" must be object');
    const level = isObject(model) ? stringAt(objectAt(model, "options"), "reasoningLevel") : undefined;
    if (this.profile.takesModelObject && known["reasoning"] !== undefined && level === undefined) {
      this.violations.push("a model with levels came without one");
      throw new RpcProblem(-32602, "Reasoning level is required");
    }
    return { ...(objectAt(known, "ref") ?? {}), ...(level === undefined ? {} : { options: { reasoningLevel: level } }) };
  }

  event(session: FakeSession, type: string, payload: JsonObject, turnId?: string | null): void {
    session.seq++;
    const inPayload = this.profile.turnIdPlace === "payload";
    const id = this.knobs.hidesTurnIds === true ? undefined : (turnId ?? undefined);
    const params: JsonObject = {
      eventId: `ev_${session.seq}`,
      sessionId: session.id,
      seq: session.seq,
      timestamp: this.clock.now(),
      type,
      payload: inPayload && id !== undefined ? { ...payload, turnId: id } : payload,
      ...(inPayload || id === undefined ? {} : { turnId: id }),
    };
    session.events.push(params);
    if (session.isSubscribed) this.write({ method: "session/event", params });
  }

  state(session: FakeSession, reason: string, patch: JsonObject = {}): void {
    const params = { type: "state.updated", scope: "session", sessionId: session.id, revision: session.seq, reason, patch };
    if (session.isSubscribed) this.write({ method: "state.updated", params });
  }

  async #preferences(sessionId: string): Promise<void> {
    if (!this.profile.asksPreferences) return;
    const wait = this.asks.ask("preferences", "session/requestRuntimePreferences", { sessionId, scope: "runtime-materialization" }, false);
    const answer = await wait.done;
    if (answer?.["askUserQuestionAutoResolutionEnabled"] !== false) this.violations.push("questions would answer themselves");
  }

  readonly #handlers: Readonly<Record<string, (params: JsonObject) => Promise<JsonObject> | JsonObject>> = {
    "session/create": async (params) => {
      if (params["model"] !== undefined && !this.profile.takesModelObject) throw new RpcProblem(-32602, 'Unrecognized key: "model"');
      const model = params["model"] === undefined ? { providerId: "zai", modelId: "GLM-5.3" } : this.checkModel(params["model"]);
      const id = `sess_${this.#nextSession++}`;
      await this.#preferences(id);
      const session = new FakeSession({ sessionId: id, cwd: stringAt(objectAt(params, "workspace"), "workspacePath") ?? "" });
      session.model = model;
      session.thought = stringAt(params, "thoughtLevel");
      session.state.mode = stringAt(params, "mode") ?? "build";
      session.mcpServers = params["mcpServers"];
      this.sessions.set(id, session);
      return this.snapshot(session, true);
    },
    "session/resume": async (params) => {
      const session = this.session(params, false);
      await this.#preferences(session.id);
      session.isResident = true;
      session.isSubscribed = false;
      session.mcpServers = params["mcpServers"];
      session.hydration = this.knobs.hydrationReads ?? 0;
      this.event(session, "session.resumed", { directory: session.cwd });
      return this.snapshot(session, true);
    },
    "session/list": (params) => {
      const cwd = stringAt(objectAt(params, "workspace"), "workspacePath");
      const limit = typeof params["limit"] === "number" ? params["limit"] : 50;
      const all = [...this.sessions.values()].filter((session) => cwd === undefined || session.cwd === cwd);
      all.sort((a, b) => b.updatedAt - a.updatedAt);
      return { sessions: all.slice(0, limit).map((session) => session.info()) };
    },
    "session/read": (params) => this.snapshot(this.session(params), false),
    "session/messages": async (params) => {
      const session = this.session(params);
      if (this.knobs.messagesDelayMs !== undefined) await this.sleep(this.knobs.messagesDelayMs);
      const missing = session.hydration > 0 ? session.hydration-- : 0;
      return { messages: structuredClone(session.read(params, Math.max(0, session.messages.length - missing))) };
    },
    "session/events": (params) => ({ events: this.session(params).events }),
    "session/subscribe": (params) => {
      const session = this.session(params);
      session.isSubscribed = true;
      const after = params["afterSeq"];
      const events = typeof after === "number" ? session.events.filter((event) => Number(event["seq"]) > after) : [];
      return { sessionId: session.id, eventSeq: session.seq, events };
    },
    "session/send": (params) => this.#send(params),
    "session/stop": (params) => {
      const session = this.session(params);
      const isIgnored = this.profile.stopIsNoop || this.knobs.ignoresStop !== undefined;
      if (!isIgnored) this.afterResponse(() => this.#runner.stop(session));
      return {};
    },
    "session/close": (params) => {
      const session = this.session(params, false);
      this.#runner.drop(session);
      session.isResident = false;
      session.isSubscribed = false;
      session.events.length = 0;
      return { closed: true };
    },
    "session/compact": (params) => {
      const session = this.session(params);
      if (session.turn !== undefined) throw new RpcProblem(-32010, "Cannot compact while a prompt is running");
      this.afterResponse(() => void this.#compact(session));
      return { response: "", snapshot: this.snapshot(session, false), compact: { state: "accepted" } };
    },
    "session/goal": (params) => {
      const session = this.session(params);
      if (session.turn !== undefined && params["action"] !== "pause") throw new RpcProblem(-32010, "Cannot manage goals while a prompt is running");
      if (params["action"] === "set") {
        const text = stringAt(params, "objective") ?? "";
        this.afterResponse(() => this.#runner.start(session, text, "goal-continuation", this.#script(text)));
      }
      return { response: `goal ${String(params["action"])}`, snapshot: this.snapshot(session, false) };
    },
    "session/fork": (params) => {
      const session = this.session(params);
      const id = `sess_fork_${this.#nextSession++}`;
      const fork = new FakeSession({ sessionId: id, cwd: session.cwd, messages: session.messages });
      fork.model = session.model;
      fork.thought = session.thought;
      fork.isResident = false;
      this.sessions.set(id, fork);
      return { forkedSessionId: id, parentSessionId: session.id, response: "", snapshot: this.snapshot(session, false) };
    },
    "session/setMode": (params) => {
      const session = this.session(params);
      session.state.mode = stringAt(params, "mode") ?? session.state.mode;
      this.afterResponse(() => this.state(session, "mode_changed", { mode: { current: session.state.mode } }));
      return this.snapshot(session, false);
    },
    "session/setThoughtLevel": (params) => {
      const session = this.session(params);
      session.thought = stringAt(params, "thoughtLevel");
      return this.snapshot(session, false);
    },
    "session/setModel": (params) => {
      const session = this.session(params);
      session.model = this.checkModel(params["model"]);
      session.thought = stringAt(objectAt(session.model, "options"), "reasoningLevel") ?? session.thought;
      return this.snapshot(session, false);
    },
    "session/cancelBackgroundTask": (params) => ({ cancelled: true, status: "cancelled", taskId: stringAt(params, "taskId") ?? "" }),
    "session/steer": () => ({ accepted: true }),
    "session/rewind": () => ({ response: "rewound" }),
    "session/rewindCascade": () => ({ response: "rewound" }),
    "v4/command": (params) => this.#command(params),
  };

  #script(text: string): PromptScript | undefined {
    const at = this.#scripts.findIndex((script) => text.includes(script.match));
    const script = this.#scripts[at];
    if (script?.once === true) this.#scripts.splice(at, 1);
    return script;
  }

  #send(params: JsonObject): JsonObject {
    const session = this.session(params);
    const content = stringAt(params, "content") ?? "";
    const { busy } = this.knobs;
    if (busy !== undefined && this.#busyLeft > 0) {
      this.#busyLeft--;
      throw new RpcProblem(busy.code, busy.message);
    }
    const accepted = { sessionId: session.id, accepted: true, stateRevision: session.seq };
    if (session.turn !== undefined) {
      if (this.profile.midTurn === "reject") throw new RpcProblem(this.profile.busyError.code, this.profile.busyError.message);
      if (this.profile.midTurn === "queue") this.afterResponse(() => this.#runner.queue(session, content));
      return accepted;
    }
    this.#runner.begin(session, content, undefined, this.#script(content), (run) => this.afterResponse(run));
    return accepted;
  }

  #command(params: JsonObject): JsonObject {
    const session = this.sessions.get(stringAt(params, "sessionId") ?? "");
    const ack = { commandId: stringAt(params, "commandId") ?? "", revisionAtDecision: 1 };
    if (session === undefined) return { ...ack, status: "rejected", reasonCode: "proto.sessionNotFound" };
    if (params["type"] === "stop") {
      const wanted = stringAt(objectAt(params, "payload"), "expectedForegroundExecutionId");
      const isOther = wanted !== undefined && session.turn !== undefined && session.turn.executionId !== wanted;
      if (this.knobs.ignoresStop !== "v4" && !isOther) this.afterResponse(() => this.#runner.stop(session));
      return { ...ack, status: "accepted" };
    }
    const text = stringAt(objectAt(params, "payload"), "text") ?? "";
    if (text === "") return { ...ack, status: "failed", reasonCode: "proto.invalidPayload", message: "input must not be empty" };
    if (session.turn !== undefined) this.afterResponse(() => this.#runner.queue(session, text));
    else this.#runner.begin(session, text, undefined, this.#script(text), (run) => this.afterResponse(run));
    return { ...ack, status: "accepted", result: { type: "inputAccepted", delivery: session.turn === undefined ? "startNow" : "queue", inputId: "in_1" } };
  }

  async #compact(session: FakeSession): Promise<void> {
    this.state(session, "compact_started", { status: "running" });
    await this.#runner.start(session, "compact", "compact", { match: "", steps: [{ do: "text", text: "internal summary" }] });
    session.state.contextUsed = 0;
    this.state(session, "session_compacted");
  }

  sleep(ms: number, wakes?: Set<() => void>): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        wakes?.delete(done);
        resolve();
      };
      const cancel = this.clock.setTimeout(done, ms);
      wakes?.add(done);
    });
  }
}
