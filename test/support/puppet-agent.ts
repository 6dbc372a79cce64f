/**
 * An agent in this process that a test plays by hand: it answers `initialize` and `session/new` by itself, everything else as the
 * test says. The bridge's own backend seam, so nothing between test and bridge but the wire's words.
 */
import type { Backend, BackendExit } from "../../src/backends/backend.ts";
import { failure, paramsOf, type RpcId } from "../../src/protocol/envelope.ts";
import type { Json, JsonObject } from "../../src/protocol/json.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import type { Transport } from "../../src/transport/transport.ts";
import { RawClient } from "./raw-client.ts";

export interface PuppetCall {
  readonly method: string;
  readonly params: JsonObject;
}

type Answer = (params: JsonObject, id: RpcId) => Json | undefined;

export interface PuppetAgent {
  readonly backend: Backend;
  /** Every request and notification it got, in order. */
  readonly calls: readonly PuppetCall[];
  /** How it answers a method from now on; `undefined` answers later, by hand, with `wire`. */
  on(method: string, answer: Answer): void;
  /** Asks the client's side something. Rejects with `RpcFailed`. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  update(sessionId: string, update: JsonObject): void;
  /** The wire itself: `answer` and `refuse` by id, notifications, waiting. */
  readonly wire: RawClient;
}

export function puppetAgent(capabilities: JsonObject = {}): PuppetAgent {
  const [ours, theirs] = memoryPair();
  const calls: PuppetCall[] = [];
  const answers = new Map<string, Answer>();
  let sessions = 0;
  answers.set("initialize", () => ({
    protocolVersion: 1,
    agentInfo: { name: "puppet", version: "1" },
    agentCapabilities: { loadSession: true, ...capabilities },
    authMethods: [],
  }));
  answers.set("session/new", () => {
    sessions += 1;
    return { sessionId: `s${sessions}` };
  });
  const wire = new RawClient(theirs, (frame) => {
    if (frame.kind === "response") return;
    const params = paramsOf(frame.msg) ?? {};
    calls.push({ method: frame.msg.method, params });
    if (frame.kind !== "request") return;
    const { id, method } = frame.msg;
    const answer = answers.get(method);
    const value = answer?.(params, id);
    if (value !== undefined) wire.answer(id, value);
    else if (answer === undefined)
      theirs.send(JSON.stringify(failure(id, { code: -32601, message: `Method not found: ${method}` })));
  });
  return {
    backend: backendOver(ours, theirs),
    calls,
    on: (method, answer) => void answers.set(method, answer),
    ask: (method, params) => wire.call(method, params),
    update: (sessionId, update) => wire.notify("session/update", { sessionId, update }),
    wire,
  };
}

function backendOver(ours: Transport, theirs: Transport): Backend {
  let end: (exit: BackendExit) => void = () => undefined;
  const exited = new Promise<BackendExit>((resolve) => {
    end = resolve;
  });
  return {
    name: "puppet",
    seesCapabilitiesLive: false,
    exited,
    start: () => ours,
    stop: () => {
      theirs.close();
      end({ code: 0, signal: null, stderrTail: "" });
      return Promise.resolve();
    },
  };
}
