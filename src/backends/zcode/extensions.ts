/** What ZCode can do beyond ACP: requests under the backend's own names, and the slash commands that stand for them. */

import { invalidParams, methodNotFound } from "../../protocol/errors.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { AcpFailure } from "./acp/link.ts";
import { within } from "./clock.ts";
import type { SlashCommand } from "./commands.ts";
import { type Host, reportBackendTasks, reportBackendTurn } from "./host.ts";
import { isKind, ZcodeError } from "./rpc/errors.ts";
import type { CompactOutcome } from "./sessions/compaction.ts";
import type { Lifecycle } from "./sessions/lifecycle.ts";
import type { Session } from "./sessions/session.ts";
import { TIMING } from "./timing.ts";
import { entryOf, levelFor, MODES, modelSelection, modelValue, parseModelValue } from "./translate/config-options.ts";
import { textContent, type Update } from "./translate/event.ts";
import { usageOfProjection } from "./translate/usage.ts";
import { CLIENT_ID } from "./turns/stop.ts";

const FINE = new Set(["accepted", "duplicate", "noop"]);

export class Extensions {
  readonly #host: Host;
  readonly #lifecycle: Lifecycle;

  constructor(host: Host, lifecycle: Lifecycle) {
    this.#host = host;
    this.#lifecycle = lifecycle;
  }

  async setMode(session: Session, mode: string | undefined): Promise<void> {
    if (mode === undefined || mode === "") throw new AcpFailure(invalidParams("modeId", "must name a mode"));
    const snapshot = await this.#lifecycle.call(session, "session/setMode", { mode });
    this.#took(session, snapshot, { mode: { current: mode } });
  }

  async setThought(session: Session, level: string | undefined): Promise<void> {
    if (level === undefined || level === "") throw new AcpFailure(invalidParams("thoughtLevel", "must name a level"));
    const snapshot = await this.#lifecycle.call(session, "session/setThoughtLevel", { thoughtLevel: level });
    this.#took(session, snapshot, { thoughtLevel: { current: level } });
    session.choice.thought = level;
    await this.#lifecycle.saveChoice(session);
  }

  /** Sets the model by option value or id. Its level goes along: a model that has levels is refused without one. */
  async setModel(session: Session, value: string | undefined): Promise<void> {
    if (value === undefined || value === "") throw new AcpFailure(invalidParams("model", "must name a model"));
    await this.#lifecycle.ensureLive(session);
    const { settings } = session;
    const ref = parseModelValue(value, settings.models);
    const level = levelFor(entryOf(settings.models, ref), settings.thought);
    const snapshot = await this.#lifecycle
      .call(session, "session/setModel", { model: modelSelection(ref, level) })
      // Older builds take the bare id.
      .catch((error: unknown) => {
        if (!isKind(error, "invalid")) throw error;
        return this.#lifecycle.call(session, "session/setModel", { model: ref.modelId }).catch(() => {
          throw error;
        });
      });
    this.#took(session, snapshot, {
      model: { current: { ...ref } },
      ...(level === undefined ? {} : { thoughtLevel: { current: level } }),
    });
    session.choice.model = modelValue(ref);
    if (level !== undefined) session.choice.thought = level;
    await this.#lifecycle.saveChoice(session);
  }

  async fork(session: Session, target: JsonObject | undefined): Promise<Session> {
    const params = { target: target ?? { kind: "latestCheckpoint" } };
    const result = await this.#lifecycle.call(session, "session/fork", params);
    const id =
      stringAt(result, "forkedSessionId") ??
      stringAt(objectAt(objectAt(result, "snapshot"), "session"), "sessionId") ??
      stringAt(result, "sessionId");
    if (id === undefined) throw new ZcodeError("other", "ZCode forked the session without naming the fork");
    const forked = this.#host.sessions.adopt(id, session);
    await this.#lifecycle.ensureLive(forked);
    return forked;
  }

  goal(session: Session, params: JsonObject): Promise<JsonObject> {
    const action = stringAt(params, "action") ?? "show";
    const objective = stringAt(params, "objective");
    return this.#lifecycle.call(session, "session/goal", { action, ...(objective === undefined ? {} : { objective }) });
  }

  /** Compacts, and answers when it is known how that went: the backend's own answer only says that it began. */
  async compact(session: Session, instructions: string | undefined): Promise<CompactOutcome> {
    await this.#lifecycle.ensureLive(session);
    if (session.compaction.isRunning) throw new ZcodeError("busy", "A compaction of this session runs already");
    const outcome = session.compaction.outcome();
    session.compaction.begin();
    reportBackendTurn(this.#host, session, true, "compact");
    try {
      await this.#lifecycle.call(session, "session/compact", instructions === undefined ? {} : { instructions });
      const how = await within<CompactOutcome>(this.#host.clock, TIMING.compactLimitMs, outcome, "timeout");
      if (how === "compacted") await this.#showContext(session);
      return how;
    } finally {
      session.compaction.end("failed");
      reportBackendTurn(this.#host, session, false, "compact");
    }
  }

  /** Puts text into the running turn. The newer command first; the method of its own exists on older builds only. */
  async steer(session: Session, text: string | undefined): Promise<JsonObject> {
    if (text === undefined || text.trim() === "") throw new AcpFailure(invalidParams("content", "must be text"));
    await this.#lifecycle.ensureLive(session);
    const sessionId = session.zcodeSid ?? "";
    const command = {
      commandId: this.#host.newId(),
      clientId: CLIENT_ID,
      sessionId,
      type: "sendText",
      issuedAt: this.#host.clock.now(),
      payload: { text, requestedDelivery: "guide" },
    };
    try {
      const ack = await this.#lifecycle.call(session, "v4/command", command);
      const status = stringAt(ack, "status") ?? "failed";
      if (FINE.has(status)) return ack;
      throw new ZcodeError(
        "other",
        stringAt(ack, "message") ?? `ZCode did not take the instruction (${stringAt(ack, "reasonCode") ?? status})`,
      );
    } catch (error) {
      if (!isKind(error, "no-method")) throw error;
    }
    try {
      return await this.#lifecycle.call(session, "session/steer", { content: text });
    } catch (error) {
      if (!isKind(error, "no-method")) throw error;
      session.isSteerGone = true;
      this.#host.announceCommands(session);
      throw new AcpFailure(methodNotFound("session/steer"));
    }
  }

  async cancelTask(session: Session, taskId: string | undefined): Promise<JsonObject> {
    if (taskId === undefined) throw new AcpFailure(invalidParams("taskId", "must name a task"));
    const result = await this.#lifecycle.call(session, "session/cancelBackgroundTask", { taskId });
    const out: Update[] = [];
    if (result["cancelled"] === true || result["cancelled"] === undefined) session.tasks.cancelled(taskId, out);
    else session.tasks.apply(objectAt(result, "snapshot") ?? {}, out);
    reportBackendTasks(this.#host, session);
    session.emit(out);
    return result;
  }

  /** A method of the backend passed through: rewind, where it still exists. */
  passThrough(session: Session, method: string, params: JsonObject): Promise<JsonObject> {
    const { sessionId: _alias, _meta, ...rest } = params;
    return this.#lifecycle.call(session, method, rest).catch((error: unknown) => {
      throw isKind(error, "no-method") ? new AcpFailure(methodNotFound(method)) : error;
    });
  }

  /** Runs a slash command of ours; the text it says goes out as a message. */
  async slash(session: Session, command: SlashCommand): Promise<void> {
    const said = await this.#slashText(session, command);
    const messageId = `command_${this.#host.newId()}`;
    session.emit([{ sessionUpdate: "agent_message_chunk", content: textContent(said), messageId }]);
  }

  async #slashText(session: Session, { name, rest }: SlashCommand): Promise<string> {
    switch (name) {
      case "mode":
        if (rest === "")
          return `Mode: ${session.settings.mode}. Available: ${MODES.map((mode) => mode.id).join(", ")}.`;
        await this.setMode(session, rest);
        return `Mode: ${session.settings.mode}.`;
      case "model":
        await this.#lifecycle.ensureLive(session);
        if (rest === "")
          return `Model: ${session.settings.model?.modelId ?? "unknown"}. Available: ${session.settings.models.map((m) => m.modelId).join(", ")}.`;
        await this.setModel(session, rest);
        return `Model: ${session.settings.model?.modelId ?? rest}.`;
      case "thought":
        if (rest === "") return `Thinking: ${session.settings.thought ?? "unknown"}.`;
        await this.setThought(session, rest);
        return `Thinking: ${session.settings.thought ?? rest}.`;
      case "compact":
        return COMPACT_TEXT[await this.compact(session, rest === "" ? undefined : rest)];
      case "fork":
        return `Forked as ${(await this.fork(session, undefined)).mainAlias ?? "a new session"}.`;
      case "goal":
        return stringAt(await this.goal(session, goalParams(rest)), "response") || "Goal updated.";
      default:
        await this.steer(session, rest);
        return "Passed on to the running turn.";
    }
  }

  /** The answer of a setter: its snapshot where it has one, else what was asked for. */
  #took(session: Session, snapshot: JsonObject, asked: JsonObject): void {
    const said = objectAt(snapshot, "settings") === undefined ? { settings: asked } : snapshot;
    this.#lifecycle.takeSettings(session, said);
  }

  async #showContext(session: Session): Promise<void> {
    const snapshot = await this.#lifecycle
      .call(session, "session/read", { messageLimit: 1 })
      .catch(() => ({}) as JsonObject);
    session.emit(session.usageChange(usageOfProjection(objectAt(snapshot, "projection"), session.contextWindow)));
  }
}

const COMPACT_TEXT: Readonly<Record<CompactOutcome, string>> = {
  compacted: "The conversation was compacted.",
  cancelled: "The compaction was cancelled.",
  failed: "The compaction failed; the context is unchanged.",
  timeout: "The compaction did not report back in time.",
};

/** `/goal set ship it` and its short form `/goal ship it`. */
export function goalParams(rest: string): JsonObject {
  const [first = "", ...words] = rest.split(/\s+/);
  if (["show", "pause", "resume", "clear"].includes(first) && words.length === 0) return { action: first };
  if (first === "set" || first === "replace") return { action: first, objective: words.join(" ") };
  return rest === "" ? { action: "show" } : { action: "set", objective: rest };
}
