/** One session inside the fake: its store, its lock, its subscribers' event numbers. */
import { isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../src/protocol/json.ts";
import type { SessionState, StoredSession } from "./scenario.ts";

export interface FakeTurn {
  readonly id: string;
  readonly input: string;
  readonly executionId: string;
  isStopped: boolean;
  /** Wakes whatever the turn waits for. */
  readonly wakes: Set<() => void>;
  isOver: boolean;
}

export class FakeSession {
  readonly id: string;
  readonly cwd: string;
  readonly kind: string;
  title: string;
  updatedAt: number;
  readonly messages: JsonObject[] = [];
  readonly events: JsonObject[] = [];
  state: SessionState = {
    mode: "build",
    todos: [],
    contextUsed: 0,
    contextWindow: 200_000,
    totalTokenCount: 0,
    status: "idle",
  };
  model: JsonObject | undefined;
  thought: string | undefined;
  isResident = true;
  isSubscribed = false;
  seq = 0;
  turn: FakeTurn | undefined;
  turnCount = 0;
  hydration = 0;
  readonly queued: string[] = [];
  mcpServers: unknown;

  constructor(stored: StoredSession) {
    this.id = stored.sessionId;
    this.cwd = stored.cwd;
    this.kind = stored.sessionKind ?? "interactive";
    this.title = stored.title ?? "";
    this.updatedAt = stored.updatedAt ?? 1;
    this.messages.push(...(stored.messages ?? []));
  }

  info(): JsonObject {
    return {
      sessionId: this.id,
      workspace: { workspacePath: this.cwd, workspaceKey: this.cwd },
      sessionKind: this.kind,
      title: this.title,
      mode: this.state.mode,
      status: this.state.status,
      createdAt: 1,
      updatedAt: this.updatedAt,
      traceId: `trace_${this.id}`,
    };
  }

  snapshot(models: readonly JsonObject[], slashCommands: readonly JsonObject[] | undefined): JsonObject {
    const current = models.find(
      (model) => stringAt(objectAt(model, "ref"), "modelId") === stringAt(this.model, "modelId"),
    );
    const levels = objectAt(current, "reasoning")?.["levels"] ?? [];
    return {
      protocol: { name: "ZCode Protocol", version: 1 },
      session: this.info(),
      settings: {
        model: { ...(this.model === undefined ? {} : { current: this.model }), available: [...models] },
        thoughtLevel: {
          enabled: true,
          ...(this.thought === undefined ? {} : { current: this.thought }),
          available: levels,
        },
        mode: { current: this.state.mode },
      },
      projection: {
        sessionId: this.id,
        status: this.state.status,
        mode: "build",
        turnCount: this.turnCount,
        totalTokenCount: this.state.totalTokenCount,
        contextUsed: this.state.contextUsed,
        contextWindow: this.state.contextWindow,
        ...(this.turn === undefined ? {} : { currentTurnId: this.turn.id }),
      },
      runtime: {},
      messages: [],
      todos: [...this.state.todos],
      ...(slashCommands === undefined ? {} : { slashCommands: [...slashCommands] }),
    };
  }

  /** Adds to a stored assistant message, or begins it. */
  append(messageId: string, part: JsonObject, parentId: string | undefined): void {
    const known = this.messages.findLast((message) => stringAt(objectAt(message, "info"), "id") === messageId);
    const parts = known?.["parts"];
    if (!Array.isArray(parts)) {
      const info = {
        id: messageId,
        sessionId: this.id,
        role: "assistant",
        ...(parentId === undefined ? {} : { parentMessageId: parentId }),
      };
      this.messages.push({ info, parts: [part] });
      return;
    }
    const last = parts.at(-1);
    if (isObject(last) && last["type"] === part["type"] && typeof part["text"] === "string") {
      last["text"] = `${stringAt(last, "text") ?? ""}${part["text"]}`;
    } else parts.push(part);
  }

  /** The messages as a read gives them. */
  read(params: JsonObject, visibleCount: number): JsonObject[] {
    const all = this.messages.slice(0, visibleCount);
    const after = stringAt(params, "afterMessageId");
    const at =
      after === undefined ? -1 : all.findIndex((message) => stringAt(objectAt(message, "info"), "id") === after);
    const rest = at === -1 ? all : all.slice(at + 1);
    const limit = numberAt(params, "limit");
    return limit === undefined ? rest : rest.slice(-limit);
  }
}
