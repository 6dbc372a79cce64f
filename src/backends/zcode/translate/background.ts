/**
 * Tasks that outlive their turn, one card each. A background Bash goes on in its launch card; everything else gets a card
 * of its own. Every terminal state closes the card, and so does the end of the backend.
 */
import { type JsonObject, numberAt, stringAt } from "../../../protocol/json.ts";
import { fenced, textBlock, type Update } from "./event.ts";
import { TailDiff } from "./tail-diff.ts";
import type { ToolCard, ToolCards } from "./tool-cards.ts";

type TaskStatus = "in_progress" | "completed" | "failed";

interface Task {
  readonly id: string;
  readonly cardId: string;
  /** The launch card, where the task goes on in it. */
  readonly card: ToolCard | undefined;
  status: TaskStatus;
  readonly tail: TailDiff;
}

const STATUS: Readonly<Record<string, TaskStatus>> = {
  running: "in_progress",
  completed: "completed",
  failed: "failed",
  timed_out: "failed",
  cancelled: "failed",
  spawn_error: "failed",
  lost: "failed",
};
const ENDED_KEPT = 500;

export class BackgroundTasks {
  readonly #cards: ToolCards;
  readonly #newCardId: () => string;
  readonly #running = new Map<string, Task>();
  readonly #ended = new Set<string>();

  /** `newCardId` gives twelve fresh hexadecimal digits. */
  constructor(cards: ToolCards, newCardId: () => string) {
    this.#cards = cards;
    this.#newCardId = newCardId;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** A record of a task, from an event or an answer. The same state again says nothing. */
  apply(record: JsonObject, out: Update[]): void {
    const id = stringAt(record, "taskId");
    if (id === undefined || this.#ended.has(id)) return;
    const status = STATUS[stringAt(record, "status") ?? "running"] ?? "in_progress";
    const task = this.#running.get(id) ?? this.#open(id, record, status, out);
    if (status === "in_progress") return this.#output(task, record, out);
    const said = stringAt(record, "status") ?? status;
    this.#close(
      task,
      status,
      record,
      { completed: status === "completed", ...(said === "cancelled" ? { cancelled: true } : {}), status: said },
      out,
    );
  }

  /** The task was cancelled on request; a later record of it says nothing new. */
  cancelled(id: string, out: Update[]): void {
    const task = this.#running.get(id);
    if (task !== undefined) this.#close(task, "failed", {}, { cancelled: true }, out);
  }

  /** The backend is going away: nothing will ever report on these again. */
  shutdown(out: Update[]): void {
    for (const task of [...this.#running.values()]) this.#close(task, "failed", {}, { shutdown: true }, out);
  }

  #open(id: string, record: JsonObject, status: TaskStatus, out: Update[]): Task {
    const source = stringAt(record, "toolCallId");
    const launch = source === undefined ? undefined : this.#cards.get(source);
    const isLaunchCard =
      launch?.isAnnounced === true &&
      launch.name === "Bash" &&
      !this.#cards.isFinal(launch.id) &&
      (launch.isBackground || launch.input?.["run_in_background"] === true);
    const outputPath = stringAt(record, "outputPath");
    const meta: JsonObject = { taskId: id, ...(outputPath === undefined ? {} : { outputPath }) };
    const task: Task = {
      id,
      cardId: isLaunchCard ? launch.id : `bg_${this.#newCardId()}`,
      card: isLaunchCard ? launch : undefined,
      status: "in_progress",
      tail: new TailDiff(),
    };
    this.#running.set(id, task);
    if (isLaunchCard) {
      launch.isBackground = true;
      launch.turn = undefined;
      out.push({
        sessionUpdate: "tool_call_update",
        toolCallId: task.cardId,
        status: "in_progress",
        _meta: { backgroundTask: meta },
      });
    } else {
      if (id.startsWith("agent_")) meta["agentId"] = id;
      if (source !== undefined) meta["sourceToolCallId"] = source;
      const title =
        stringAt(record, "description") ?? stringAt(record, "command") ?? stringAt(record, "toolName") ?? id;
      out.push({
        sessionUpdate: "tool_call",
        toolCallId: task.cardId,
        title: `[background] ${title}`,
        kind: "other",
        status: status === "in_progress" ? status : "pending",
        _meta: { backgroundTask: meta },
      });
    }
    return task;
  }

  #output(task: Task, record: JsonObject, out: Update[]): void {
    const tail = stringAt(record, "outputTail") ?? stringAt(record, "stdoutTail");
    if (tail === undefined || task.card === undefined) return;
    const fresh = task.tail.next(tail, numberAt(record, "outputBytes"));
    if (fresh === "") return;
    if (task.card.isTerminal) return this.#cards.pushOutput(task.card, fresh, out);
    const content = [textBlock(fenced(tail, "console"))];
    out.push({ sessionUpdate: "tool_call_update", toolCallId: task.cardId, status: "in_progress", content });
  }

  #close(task: Task, status: "completed" | "failed", record: JsonObject, how: JsonObject, out: Update[]): void {
    this.#running.delete(task.id);
    this.#remember(task.id);
    this.#output(task, record, out);
    task.status = status;
    const meta: JsonObject = { backgroundTask: { taskId: task.id, ...how } };
    const { card } = task;
    if (card === undefined) {
      out.push({ sessionUpdate: "tool_call_update", toolCallId: task.cardId, status, _meta: meta });
      return;
    }
    const exit = card.isTerminal ? this.#cards.exitMeta(card, status === "completed" ? 0 : 1) : {};
    const content = card.isTerminal ? this.#cards.terminalContent(card) : {};
    this.#cards.finish(card, status, { ...content, _meta: { ...exit, ...meta } }, out);
  }

  /** Records of a finished task can come again, for instance after a new subscription. */
  #remember(id: string): void {
    this.#ended.add(id);
    if (this.#ended.size <= ENDED_KEPT) return;
    for (const oldest of this.#ended) {
      this.#ended.delete(oldest);
      return;
    }
  }
}
