/** What a tool's end makes worth reading: the todos, the mode, the diff of an edit. Reads are joined, never piled up. */
import { arrayAt, type JsonObject, objectAt } from "../../../protocol/json.ts";
import { pause } from "../clock.ts";
import type { Host } from "../host.ts";
import type { Lifecycle } from "../sessions/lifecycle.ts";
import type { Session } from "../sessions/session.ts";
import { TIMING } from "../timing.ts";
import { type Settings, settingsUpdates } from "../translate/config-options.ts";
import { diffOf } from "../translate/diff.ts";
import { displayOf, readMessages, toolsOf } from "../translate/messages.ts";
import { planEntries } from "../translate/plan.ts";
import { diffUpdate, type ToolFollowUp } from "../translate/tool-cards.ts";
import { usageOfProjection } from "../translate/usage.ts";

const DIFF_LOOKBACK = 6;

export class FollowUps {
  readonly #host: Host;
  readonly #lifecycle: Lifecycle;
  /** Sessions being read; the value holds the tools that ended since the read began. */
  readonly #reading = new Map<Session, (string | undefined)[]>();

  constructor(host: Host, lifecycle: Lifecycle) {
    this.#host = host;
    this.#lifecycle = lifecycle;
  }

  /** Acts on the end of a tool call. */
  afterTool(session: Session, followUp: ToolFollowUp): void {
    const { ended, wantsDiff } = followUp;
    if (wantsDiff !== undefined) void this.#showDiff(session, wantsDiff);
    if (ended === undefined) return;
    if (ended.name === "EnterPlanMode" && ended.isFailed !== true) this.setMode(session, "plan");
    void this.#checkPlan(session, ended.name);
  }

  /** Shows a mode the backend has entered without saying so. */
  setMode(session: Session, mode: string): void {
    const before = session.settings;
    const after: Settings = { ...before, mode };
    if (before.mode === mode) return;
    session.settings = after;
    session.emit(settingsUpdates(before, after));
  }

  /** Reads the session and shows what changed of plan, settings and (at a turn's end) the context meter. */
  async sync(session: Session, withUsage: boolean, timeoutMs?: number): Promise<void> {
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    const snapshot = await this.#lifecycle.call(session, "session/read", { messageLimit: 1 }, options);
    this.#lifecycle.takeSettings(session, snapshot);
    this.showPlan(session, snapshot);
    if (withUsage) this.showUsage(session, snapshot);
  }

  /** True when the plan of this snapshot was news. */
  showPlan(session: Session, snapshot: JsonObject): boolean {
    const entries = planEntries(snapshot);
    const updates = entries === undefined ? [] : session.planChange(entries);
    session.emit(updates);
    return updates.length > 0;
  }

  showUsage(session: Session, snapshot: JsonObject): void {
    session.emit(session.usageChange(usageOfProjection(objectAt(snapshot, "projection"), session.contextWindow)));
  }

  async #checkPlan(session: Session, toolName: string | undefined): Promise<void> {
    const reading = this.#reading.get(session);
    if (reading !== undefined) return void reading.push(toolName);
    const ended = [toolName];
    this.#reading.set(session, ended);
    try {
      while (ended.length > 0) {
        const mayLag = ended.splice(0).some((name) => name === undefined || /todo/i.test(name));
        const snapshot = await this.#lifecycle.call(session, "session/read", { messageLimit: 1 });
        const hasNews = this.showPlan(session, snapshot);
        // Todos are written a moment after the result that announces them.
        if (!hasNews && mayLag) {
          await pause(this.#host.clock, TIMING.planAgainMs);
          this.showPlan(session, await this.#lifecycle.call(session, "session/read", { messageLimit: 1 }));
        }
      }
    } catch {
      this.#host.log("debug", "plan could not be read");
    } finally {
      this.#reading.delete(session);
    }
  }

  async #showDiff(session: Session, callId: string): Promise<void> {
    try {
      for (let attempt = 0; attempt < TIMING.replyTries; attempt++) {
        if (attempt > 0) await pause(this.#host.clock, TIMING.replyStepMs);
        const result = await this.#lifecycle.call(session, "session/messages", { limit: DIFF_LOOKBACK });
        const tools = readMessages(arrayAt(result, "messages") ?? []).flatMap(toolsOf);
        const tool = tools.find((part) => part.callId === callId);
        const diff = tool === undefined ? undefined : diffOf(displayOf(tool));
        if (diff !== undefined) return session.emit([diffUpdate(callId, diff.content, diff.locations)]);
        // Stored without a diff: it was no edit.
        if (tool?.state["status"] === "completed") return;
      }
    } catch {
      this.#host.log("debug", "diff could not be read");
    }
  }
}
