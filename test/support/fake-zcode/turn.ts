/** Runs the script of one turn inside the fake: events in the real order, the lock released before prompt_completed. */
import type { JsonObject } from "../../../src/protocol/json.ts";
import { stringAt } from "../../../src/protocol/json.ts";
import type { FakeZcode } from "./fake.ts";
import type { PromptScript, Step } from "./scenario.ts";
import type { FakeSession, FakeTurn } from "./session.ts";

/** How a script ends its turn. */
type Ending = "complete" | "done" | "lost" | "lost-all" | "hang";

export class TurnRunner {
  readonly #fake: FakeZcode;
  #nextTurn = 1;
  #nextMessage: number;

  constructor(fake: FakeZcode) {
    this.#fake = fake;
    // Ids go on where an earlier process stopped.
    this.#nextMessage = [...fake.sessions.values()].reduce((sum, session) => sum + session.messages.length, 1);
  }

  /** Takes the lock now; the events follow the response. */
  begin(
    session: FakeSession,
    input: string,
    source: string | undefined,
    script: PromptScript | undefined,
    later: (run: () => void) => void,
  ): void {
    const turn = this.#take(session, input);
    later(() => void this.#run(session, turn, source, script));
  }

  start(
    session: FakeSession,
    input: string,
    source: string | undefined,
    script: PromptScript | undefined,
  ): Promise<void> {
    return this.#run(session, this.#take(session, input), source, script);
  }

  stop(session: FakeSession): void {
    const { turn } = session;
    if (turn === undefined) return;
    turn.isStopped = true;
    this.#fake.asks.abort((wait) => stringAt(wait.params, "sessionId") === session.id && wait.name !== "preferences");
    for (const wake of [...turn.wakes]) wake();
  }

  /** The runtime is thrown away: nothing more of the turn is told. */
  drop(session: FakeSession): void {
    if (session.turn !== undefined) session.turn.isOver = true;
    this.stop(session);
    session.turn = undefined;
    session.state.status = "idle";
  }

  queue(session: FakeSession, input: string): void {
    const turn = session.turn;
    if (turn === undefined) return;
    session.queued.push(input);
    const id = `pending_${session.queued.length}`;
    this.#fake.event(
      session,
      "turn.steerQueued",
      {
        pendingInputId: id,
        input,
        inputPreview: input.slice(0, 40),
        inputSize: input.length,
        targetTurnId: turn.id,
        queueLength: 1,
      },
      turn.id,
    );
    this.#fake.event(
      session,
      "turn.steerDrained",
      { pendingInputIds: [id], targetTurnId: turn.id, injectedMessageIds: [] },
      turn.id,
    );
  }

  #take(session: FakeSession, input: string): FakeTurn {
    const number = this.#nextTurn++;
    const turn: FakeTurn = {
      id: `turn_${number}`,
      input,
      executionId: `exec_${number}`,
      isStopped: false,
      wakes: new Set(),
      isOver: false,
    };
    session.turn = turn;
    session.state.status = "running";
    return turn;
  }

  async #run(
    session: FakeSession,
    turn: FakeTurn,
    source: string | undefined,
    script: PromptScript | undefined,
  ): Promise<void> {
    const fake = this.#fake;
    session.turnCount++;
    const userId = `msg_u${this.#nextMessage++}`;
    session.messages.push({
      info: { id: userId, role: "user", ...(source === undefined ? {} : { synthetic: true }) },
      parts: [{ id: `${userId}_p`, type: "text", text: turn.input }],
    });
    fake.event(
      session,
      "turn.started",
      {
        turnNumber: session.turnCount,
        input: turn.input,
        foregroundExecutionId: turn.executionId,
        ...(source === undefined ? {} : { inputSource: source }),
      },
      turn.id,
    );
    fake.state(session, "prompt_started");
    if (fake.knobs.asksHeaders === true) {
      const params = {
        requestId: `${session.id}:h`,
        sessionId: session.id,
        turnId: turn.id,
        providerId: "zai",
        reason: "model-request",
      };
      await fake.asks.ask("headers", "interaction/requestProviderRuntimeHeaders", params, false).done;
    }
    const context = new StepContext(fake, session, turn, userId, () => `msg_a${this.#nextMessage++}`);
    let ending: Ending = "complete";
    for (const step of script?.steps ?? [{ do: "text", text: `echo: ${turn.input}` } satisfies Step]) {
      if (turn.isStopped || turn.isOver || fake.isDead) break;
      ending = await context.step(step);
      if (ending !== "complete") break;
    }
    if (ending === "hang")
      while (!turn.isStopped && !turn.isOver && !fake.isDead)
        await new Promise<void>((resolve) => turn.wakes.add(resolve));
    if (turn.isOver || fake.isDead) return;
    context.commit();
    this.#end(session, turn, turn.isStopped ? "complete" : ending, context);
    await this.#afterwards(session, script?.after ?? []);
  }

  /** Events outside of any turn: background tasks, mostly. */
  async #afterwards(session: FakeSession, steps: readonly Step[]): Promise<void> {
    const nobody: FakeTurn = {
      id: "none",
      input: "",
      executionId: "none",
      isStopped: false,
      wakes: new Set(),
      isOver: false,
    };
    const context = new StepContext(this.#fake, session, nobody, "none", () => `msg_a${this.#nextMessage++}`);
    for (const step of steps) {
      if (this.#fake.isDead) return;
      await context.step(step.do === "event" ? { ...step, turnId: step.turnId ?? null } : step);
    }
  }

  #end(session: FakeSession, turn: FakeTurn, ending: Ending, context: StepContext): void {
    const fake = this.#fake;
    turn.isOver = true;
    session.updatedAt++;
    const isTold = ending === "complete" || ending === "hang";
    if (isTold) {
      fake.event(
        session,
        "turn.completed",
        {
          response: context.text,
          tokenCount: 1,
          toolCallCount: 0,
          duration: 1,
          resultType: turn.isStopped ? "cancelled" : "success",
        },
        turn.id,
      );
    }
    if (session.turn === turn) session.turn = undefined;
    session.state.status = "idle";
    if (ending !== "lost-all") fake.state(session, "prompt_completed");
    const idleMs = fake.knobs.evictAfterMs;
    if (idleMs === undefined) return;
    fake.clock.setTimeout(() => {
      if (session.turn !== undefined) return;
      session.isResident = false;
      session.isSubscribed = false;
    }, idleMs);
  }
}

class StepContext {
  readonly #fake: FakeZcode;
  readonly #session: FakeSession;
  readonly #turn: FakeTurn;
  readonly #userId: string;
  readonly #newMessageId: () => string;
  readonly #pending: (() => void)[] = [];
  #messageId: string | undefined;
  /** The whole text of the turn. */
  text = "";

  constructor(fake: FakeZcode, session: FakeSession, turn: FakeTurn, userId: string, newMessageId: () => string) {
    this.#fake = fake;
    this.#session = session;
    this.#turn = turn;
    this.#userId = userId;
    this.#newMessageId = newMessageId;
  }

  async step(step: Step): Promise<Ending> {
    const fake = this.#fake;
    const session = this.#session;
    const turn = this.#turn;
    switch (step.do) {
      case "event":
        fake.event(session, step.type, step.payload ?? {}, step.turnId === undefined ? turn.id : step.turnId);
        return "complete";
      case "text":
        return this.#speak("text_delta", "text", step);
      case "reasoning":
        return this.#speak("reasoning_delta", "reasoning", step);
      case "tool":
        fake.event(session, "tool.updated", step.payload, turn.id);
        return "complete";
      case "ask":
        fake.asks.ask(step.name, step.method, { sessionId: session.id, turnId: turn.id, ...step.params }, true);
        return "complete";
      case "expectAnswer":
        await fake.asks.all.findLast((wait) => wait.name === step.name)?.done;
        return "complete";
      case "sleep":
        await fake.sleep(step.ms, turn.wakes);
        return "complete";
      case "until":
        await this.#until(step.name);
        return "complete";
      case "state":
        fake.state(session, step.reason, step.patch);
        return "complete";
      case "store":
        session.messages.push(step.message);
        return "complete";
      case "set":
        Object.assign(session.state, step.members);
        return "complete";
      case "complete":
        fake.event(
          session,
          "turn.completed",
          {
            response: step.response ?? this.text,
            tokenCount: 1,
            toolCallCount: 0,
            duration: 1,
            resultType: step.resultType ?? "success",
            ...(step.usage === undefined ? {} : { usage: step.usage }),
          },
          turn.id,
        );
        return "done";
      case "fail":
        fake.event(session, "turn.failed", { error: step.error, turnPhase: "model" }, turn.id);
        return "done";
      case "lose":
        return step.all === true ? "lost-all" : "lost";
      case "hang":
        return "hang";
      case "raw":
        fake.writeRaw(step.line);
        return "complete";
      case "crash":
        fake.exit(137);
        return "hang";
    }
  }

  /** Writes what the turn said into the store, now or a little later. */
  commit(): void {
    const lag = this.#fake.knobs.messagesLagMs;
    const write = (): void => {
      for (const run of this.#pending.splice(0)) run();
    };
    if (lag === undefined) write();
    else this.#fake.clock.setTimeout(write, lag);
  }

  #speak(
    kind: string,
    type: string,
    step: {
      readonly text: string;
      readonly message?: string;
      readonly stored?: boolean;
      readonly live?: boolean;
      readonly anonymous?: boolean;
    },
  ): Ending {
    this.#messageId = step.message ?? this.#messageId ?? this.#newMessageId();
    const id = this.#messageId;
    if (type === "text") this.text += step.text;
    if (step.stored !== false)
      this.#pending.push(() => this.#session.append(id, { type, text: step.text, id: `${id}_${type}` }, this.#userId));
    if (step.live !== false) {
      const payload: JsonObject = {
        kind,
        delta: step.text,
        ...(step.anonymous === true ? {} : { assistantMessageId: id }),
      };
      this.#fake.event(this.#session, "model.streaming", payload, this.#turn.id);
    }
    return "complete";
  }

  #until(name: string): Promise<void> {
    const gate = this.#fake.gate(name);
    const turn = this.#turn;
    if (gate.isOpen || turn.isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        gate.wakes.delete(done);
        turn.wakes.delete(done);
        resolve();
      };
      gate.wakes.add(done);
      turn.wakes.add(done);
    });
  }
}
