/**
 * A stand-in for ZCode's app-server, as strict as the real one: it refuses what that refuses, checks every answer, asks
 * again until it is answered, and records every frame. A test fails on any violation it saw.
 */
import type { Clock } from "../../../src/backends/zcode/clock.ts";
import { isObject, type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";
import { FakeAsks } from "./asks.ts";
import { FakeMethods } from "./methods.ts";
import { type Knobs, PROFILES, type Profile, type Scenario } from "./scenario.ts";
import { envelopeProblem, paramProblem } from "./schemas.ts";
import { FakeSession } from "./session.ts";

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
    reasoning: {
      levels: [
        { value: "high", label: "High" },
        { value: "max", label: "Max" },
      ],
      defaultLevel: "high",
    },
  },
  { ref: { providerId: "zai", modelId: "GLM-5.3-Flash" }, label: "GLM-5.3-Flash", contextWindow: 128_000 },
];
/** Asked without parameters only to learn whether a method exists: answered like any other, but no violation. */
const PROBED = new Set(["session/subscribe"]);

export class FakeZcode {
  readonly sessions: Map<string, FakeSession> = new Map();
  readonly received: JsonObject[] = [];
  readonly sent: JsonObject[] = [];
  readonly violations: string[] = [];
  readonly asks: FakeAsks;
  readonly profile: Profile;
  readonly knobs: Knobs;
  readonly clock: Clock;
  readonly #ports: FakePorts;
  readonly #methods: FakeMethods;
  readonly #gates = new Map<string, { isOpen: boolean; wakes: Set<() => void> }>();
  #early: string[] | undefined;
  #outbox: (() => void)[] = [];
  /** Methods that are answered with an internal error. */
  readonly failing: Set<string> = new Set();
  isDead = false;

  constructor(scenario: Scenario, ports: FakePorts) {
    this.profile = PROFILES[scenario.profile ?? "0.16.9"];
    this.knobs = scenario.knobs ?? {};
    this.clock = ports.clock;
    this.#ports = ports;
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
    this.#methods = new FakeMethods(this, scenario.prompts ?? []);
    this.#boot();
  }

  #boot(): void {
    const { env } = this.#ports;
    const hasBoth =
      env?.["ZCODE_BUILTIN_PROVIDER_CONFIG_FILE"] !== undefined &&
      env["ZCODE_PERSONAL_PROVIDER_CONFIG_FILE"] !== undefined;
    if (this.knobs.needsProviderEnv === true && !hasBoth) return this.exit(1);
    const delay = this.knobs.bootDelayMs;
    if (delay === undefined) return;
    this.#early = [];
    this.clock.setTimeout(() => {
      const early = this.#early ?? [];
      this.#early = undefined;
      this.write({
        method: "startup/storageState",
        params: {
          schemaVersion: 1,
          attemptId: "a",
          sequence: 1,
          databaseId: "d",
          databaseKind: "session",
          phase: "ready",
          elapsedMs: delay,
        },
      });
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
    if (this.failing.has(method)) throw new RpcProblem(-32603, "Internal error");
    this.#outbox = outbox;
    const handler = this.#methods.handlers[method];
    if (handler === undefined) throw new RpcProblem(-32601, `Method not found: ${method}`);
    return handler(params);
  }

  #exists(method: string): boolean {
    if (method === "session/subscribe") return this.profile.hasSubscribe;
    if (method === "v4/command") return this.profile.hasV4;
    if (["session/steer", "session/rewind", "session/rewindCascade"].includes(method))
      return this.profile.hasLegacySteer;
    return true;
  }

  /** The session, or the two refusals that share a code. */
  session(params: JsonObject, mustBeResident = true): FakeSession {
    const id = stringAt(params, "sessionId") ?? "";
    const session = this.sessions.get(id);
    if (session === undefined || this.knobs.unknownSessions?.includes(id) === true)
      throw new RpcProblem(-32004, `Session not found: ${id}`);
    if (mustBeResident && !session.isResident) throw new RpcProblem(-32004, "Session is not active");
    return session;
  }

  get models(): readonly JsonObject[] {
    return this.knobs.models ?? DEFAULT_MODELS;
  }

  snapshot(session: FakeSession, isFull: boolean): JsonObject {
    const current = this.models.filter(
      (model) => stringAt(objectAt(model, "ref"), "modelId") === stringAt(session.model, "modelId"),
    );
    return session.snapshot(isFull ? this.models : current, isFull ? (this.knobs.slashCommands ?? []) : undefined);
  }

  /** Throws when a model that has levels comes without one. */
  checkModel(model: unknown): JsonObject {
    const modelId = typeof model === "string" ? model : isObject(model) ? stringAt(model, "modelId") : undefined;
    const providerId = isObject(model) ? stringAt(model, "providerId") : undefined;
    const known = this.models.find((entry) => {
      const ref = objectAt(entry, "ref");
      return stringAt(ref, "modelId") === modelId && (providerId ?? ref?.["providerId"]) === ref?.["providerId"];
    });
    if (known === undefined) throw new RpcProblem(-32031, "Model is not available");
    if (typeof model === "string" && this.profile.takesModelObject)
      throw new RpcProblem(-32602, 'Invalid params: "model" must be object');
    const level = isObject(model) ? stringAt(objectAt(model, "options"), "reasoningLevel") : undefined;
    if (this.profile.takesModelObject && known["reasoning"] !== undefined && level === undefined) {
      this.violations.push("a model with levels came without one");
      throw new RpcProblem(-32602, "Reasoning level is required");
    }
    return {
      ...(objectAt(known, "ref") ?? {}),
      ...(level === undefined ? {} : { options: { reasoningLevel: level } }),
    };
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
    const params = {
      type: "state.updated",
      scope: "session",
      sessionId: session.id,
      revision: session.seq,
      reason,
      patch,
    };
    if (session.isSubscribed) this.write({ method: "state.updated", params });
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
