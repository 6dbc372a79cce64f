/** What each method of the fake does once its parameters were found good. */
import { type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";
import { type FakeZcode, RpcProblem } from "./fake.ts";
import type { PromptScript } from "./scenario.ts";
import { FakeSession } from "./session.ts";
import { TurnRunner } from "./turn.ts";

export type FakeHandler = (params: JsonObject) => Promise<JsonObject> | JsonObject;

export class FakeMethods {
  readonly #fake: FakeZcode;
  readonly #runner: TurnRunner;
  readonly #scripts: PromptScript[];
  #busyLeft: number;
  #nextSession: number;

  constructor(fake: FakeZcode, scripts: readonly PromptScript[]) {
    this.#fake = fake;
    this.#runner = new TurnRunner(fake);
    this.#scripts = [...scripts];
    this.#busyLeft = fake.knobs.busy?.times ?? 0;
    // Ids go on where an earlier process stopped.
    this.#nextSession =
      1 + Math.max(0, ...[...fake.sessions.keys()].map((id) => Number(/^sess_(\d+)$/.exec(id)?.[1] ?? 0)));
  }

  async #preferences(sessionId: string): Promise<void> {
    if (!this.#fake.profile.asksPreferences) return;
    const wait = this.#fake.asks.ask(
      "preferences",
      "session/requestRuntimePreferences",
      { sessionId, scope: "runtime-materialization" },
      false,
    );
    const answer = await wait.done;
    if (answer?.["askUserQuestionAutoResolutionEnabled"] !== false)
      this.#fake.violations.push("questions would answer themselves");
  }

  readonly handlers: Readonly<Record<string, FakeHandler>> = {
    "session/create": async (params) => {
      if (params["model"] !== undefined && !this.#fake.profile.takesModelObject)
        throw new RpcProblem(-32602, 'Unrecognized key: "model"');
      const model =
        params["model"] === undefined
          ? { providerId: "zai", modelId: "GLM-5.3" }
          : this.#fake.checkModel(params["model"]);
      const id = `sess_${this.#nextSession++}`;
      await this.#preferences(id);
      const session = new FakeSession({
        sessionId: id,
        cwd: stringAt(objectAt(params, "workspace"), "workspacePath") ?? "",
      });
      session.model = model;
      session.thought = stringAt(params, "thoughtLevel");
      session.state.mode = stringAt(params, "mode") ?? "build";
      session.mcpServers = params["mcpServers"];
      this.#fake.sessions.set(id, session);
      return this.#fake.snapshot(session, true);
    },
    "session/resume": async (params) => {
      const session = this.#fake.session(params, false);
      await this.#preferences(session.id);
      session.isResident = true;
      session.isSubscribed = false;
      session.mcpServers = params["mcpServers"];
      session.hydration = this.#fake.knobs.hydrationReads ?? 0;
      this.#fake.event(session, "session.resumed", { directory: session.cwd });
      return this.#fake.snapshot(session, true);
    },
    "session/list": (params) => {
      const cwd = stringAt(objectAt(params, "workspace"), "workspacePath");
      const limit = typeof params["limit"] === "number" ? params["limit"] : 50;
      const all = [...this.#fake.sessions.values()].filter((session) => cwd === undefined || session.cwd === cwd);
      all.sort((a, b) => b.updatedAt - a.updatedAt);
      return { sessions: all.slice(0, limit).map((session) => session.info()) };
    },
    "session/read": (params) => this.#fake.snapshot(this.#fake.session(params), false),
    "session/messages": async (params) => {
      const session = this.#fake.session(params);
      if (this.#fake.knobs.messagesDelayMs !== undefined) await this.#fake.sleep(this.#fake.knobs.messagesDelayMs);
      const missing = session.hydration > 0 ? session.hydration-- : 0;
      return { messages: structuredClone(session.read(params, Math.max(0, session.messages.length - missing))) };
    },
    "session/events": (params) => ({ events: this.#fake.session(params).events }),
    "session/subscribe": (params) => {
      const session = this.#fake.session(params);
      session.isSubscribed = true;
      const after = params["afterSeq"];
      const events = typeof after === "number" ? session.events.filter((event) => Number(event["seq"]) > after) : [];
      return { sessionId: session.id, eventSeq: session.seq, events };
    },
    "session/send": (params) => this.#send(params),
    "session/stop": (params) => {
      const session = this.#fake.session(params);
      const isIgnored = this.#fake.profile.stopIsNoop || this.#fake.knobs.ignoresStop !== undefined;
      if (!isIgnored) this.#fake.afterResponse(() => this.#runner.stop(session));
      return {};
    },
    "session/close": (params) => {
      const session = this.#fake.session(params, false);
      this.#runner.drop(session);
      session.isResident = false;
      session.isSubscribed = false;
      session.events.length = 0;
      return { closed: true };
    },
    "session/compact": (params) => {
      const session = this.#fake.session(params);
      if (session.turn !== undefined) throw new RpcProblem(-32010, "Cannot compact while a prompt is running");
      this.#fake.afterResponse(() => void this.#compact(session));
      return { response: "", snapshot: this.#fake.snapshot(session, false), compact: { state: "accepted" } };
    },
    "session/goal": (params) => {
      const session = this.#fake.session(params);
      const isAllowed =
        params["action"] === "pause" || (params["action"] === "show" && this.#fake.profile.showsGoalMidTurn);
      if (session.turn !== undefined && !isAllowed)
        throw new RpcProblem(-32010, "Cannot manage goals while a prompt is running");
      if (params["action"] === "set") {
        const text = stringAt(params, "objective") ?? "";
        this.#fake.afterResponse(() => void this.#runner.start(session, text, "goal-continuation", this.#script(text)));
      }
      return { response: `goal ${String(params["action"])}`, snapshot: this.#fake.snapshot(session, false) };
    },
    "session/fork": (params) => {
      const session = this.#fake.session(params);
      const id = `sess_fork_${this.#nextSession++}`;
      const fork = new FakeSession({ sessionId: id, cwd: session.cwd, messages: session.messages });
      fork.model = session.model;
      fork.thought = session.thought;
      fork.isResident = false;
      this.#fake.sessions.set(id, fork);
      return {
        forkedSessionId: id,
        parentSessionId: session.id,
        response: "",
        snapshot: this.#fake.snapshot(session, false),
      };
    },
    "session/setMode": (params) => {
      const session = this.#fake.session(params);
      session.state.mode = stringAt(params, "mode") ?? session.state.mode;
      this.#fake.afterResponse(() =>
        this.#fake.state(session, "mode_changed", { mode: { current: session.state.mode } }),
      );
      return this.#fake.snapshot(session, false);
    },
    "session/setThoughtLevel": (params) => {
      const session = this.#fake.session(params);
      session.thought = stringAt(params, "thoughtLevel");
      return this.#fake.snapshot(session, false);
    },
    "session/setModel": (params) => {
      const session = this.#fake.session(params);
      session.model = this.#fake.checkModel(params["model"]);
      session.thought = stringAt(objectAt(session.model, "options"), "reasoningLevel") ?? session.thought;
      return this.#fake.snapshot(session, false);
    },
    "session/cancelBackgroundTask": (params) => ({
      cancelled: true,
      status: "cancelled",
      taskId: stringAt(params, "taskId") ?? "",
    }),
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
    const session = this.#fake.session(params);
    const content = stringAt(params, "content") ?? "";
    const { busy } = this.#fake.knobs;
    if (busy !== undefined && this.#busyLeft > 0) {
      this.#busyLeft--;
      throw new RpcProblem(busy.code, busy.message);
    }
    const accepted = { sessionId: session.id, accepted: true, stateRevision: session.seq };
    if (session.turn !== undefined) {
      if (this.#fake.profile.midTurn === "reject")
        throw new RpcProblem(this.#fake.profile.busyError.code, this.#fake.profile.busyError.message);
      if (this.#fake.profile.midTurn === "queue") this.#fake.afterResponse(() => this.#runner.queue(session, content));
      return accepted;
    }
    this.#runner.begin(session, content, undefined, this.#script(content), (run) => this.#fake.afterResponse(run));
    return accepted;
  }

  #command(params: JsonObject): JsonObject {
    const session = this.#fake.sessions.get(stringAt(params, "sessionId") ?? "");
    const ack = { commandId: stringAt(params, "commandId") ?? "", revisionAtDecision: 1 };
    if (session === undefined) return { ...ack, status: "rejected", reasonCode: "proto.sessionNotFound" };
    if (params["type"] === "stop") {
      const wanted = stringAt(objectAt(params, "payload"), "expectedForegroundExecutionId");
      const isOther = wanted !== undefined && session.turn !== undefined && session.turn.executionId !== wanted;
      if (this.#fake.knobs.ignoresStop !== "v4" && !isOther) this.#fake.afterResponse(() => this.#runner.stop(session));
      return { ...ack, status: "accepted" };
    }
    const text = stringAt(objectAt(params, "payload"), "text") ?? "";
    if (text === "")
      return { ...ack, status: "failed", reasonCode: "proto.invalidPayload", message: "input must not be empty" };
    if (session.turn !== undefined) this.#fake.afterResponse(() => this.#runner.queue(session, text));
    else this.#runner.begin(session, text, undefined, this.#script(text), (run) => this.#fake.afterResponse(run));
    return {
      ...ack,
      status: "accepted",
      result: { type: "inputAccepted", delivery: session.turn === undefined ? "startNow" : "queue", inputId: "in_1" },
    };
  }

  async #compact(session: FakeSession): Promise<void> {
    this.#fake.state(session, "compact_started", { status: "running" });
    await this.#runner.start(session, "compact", "compact", {
      match: "",
      steps: [{ do: "text", text: "internal summary" }],
    });
    session.state.contextUsed = 0;
    this.#fake.state(session, "session_compacted");
  }
}
