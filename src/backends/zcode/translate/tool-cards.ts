/**
 * The tool cards of one session, from the backend's tool events. Invariants, cited where they are kept:
 *  C1 a card is created once, whichever event of its call comes first
 *  C2 a final card never changes again
 *  C3 when a turn ends, none of its cards is left open, except those of background tasks
 *  C4 terminal output is sent once, as it grows; a terminal card never carries rawOutput
 */
import { type JsonObject, numberAt, objectAt, stringAt } from "../../../protocol/json.ts";
import { diffOf } from "./diff.ts";
import { fenced, textBlock, type Update } from "./event.ts";
import { TailDiff } from "./tail-diff.ts";
import { isAgentTool, isEditTool, toolKind, toolLocations, toolTitle } from "./tool-look.ts";
import { batchIds, bounded, errorText, RAW_OUTPUT_MAX, resultText, subagentMeta } from "./tool-result.ts";

export type CardStatus = "pending" | "in_progress" | "completed" | "failed";

export interface ToolCard {
  readonly id: string;
  name?: string;
  input?: JsonObject;
  status: CardStatus;
  isAnnounced: boolean;
  /** Rendered as a terminal: output streams through `_meta.terminal_output`. */
  isTerminal: boolean;
  /** Launched with run_in_background: the task's own records close it, not the launch. */
  isBackground: boolean;
  hasStreamed: boolean;
  /** The turn it belongs to; undefined once nobody's turn closes it. */
  turn: string | undefined;
  /** The call of the sub-agent this one runs in. */
  parent?: string;
  readonly out: TailDiff;
  readonly err: TailDiff;
}

/** What a tool event asks of whoever has I/O. */
export interface ToolFollowUp {
  /** Fetch the stored part of this call and show its diff. */
  readonly wantsDiff?: string;
  /** A call ended: todos and mode may have changed. Holds the tool's name where known. */
  readonly ended?: { readonly name: string | undefined; readonly isFailed?: boolean };
}

const FINAL: ReadonlySet<CardStatus> = new Set<CardStatus>(["completed", "failed"]);
const CARDS_MAX = 2_000;

export class ToolCards {
  readonly #cards = new Map<string, ToolCard>();
  readonly #hasTerminal: () => boolean;

  constructor(hasTerminal: () => boolean) {
    this.#hasTerminal = hasTerminal;
  }

  get(id: string): ToolCard | undefined {
    return this.#cards.get(id);
  }

  isFinal(id: string): boolean {
    const card = this.#cards.get(id);
    return card !== undefined && FINAL.has(card.status);
  }

  /** The calls of a turn that still run in the foreground. */
  openOf(turn: string): ToolCard[] {
    return [...this.#cards.values()].filter(
      (card) => card.turn === turn && card.isAnnounced && !card.isBackground && !FINAL.has(card.status),
    );
  }

  /** Remembers a call the model just spelled out: `scheduled` often leaves the input out. */
  hint(payload: JsonObject, turn: string): void {
    const id = stringAt(payload, "toolCallId");
    if (id === undefined || this.isFinal(id)) return;
    this.#learn(this.#card(id, turn), payload);
  }

  /** One tool event. Updates go to `out`; the answer says what else to do. */
  apply(payload: JsonObject, turn: string, out: Update[]): ToolFollowUp {
    const kind = stringAt(payload, "kind");
    if (kind === "batch") return this.#batch(payload, out);
    const id = stringAt(payload, "toolCallId");
    if (id === undefined || kind === undefined || this.isFinal(id)) return {};
    const card = this.#card(id, turn);
    this.#learn(card, payload);
    switch (kind) {
      case "scheduled":
        if (card.isAnnounced) out.push(this.#refresh(card));
        else this.announce(card, out);
        return {};
      case "started":
        this.announce(card, out);
        this.#progressed(card, out);
        return {};
      case "progress":
        this.announce(card, out);
        this.#progress(card, payload, out);
        return {};
      case "result":
        this.announce(card, out);
        return this.#result(card, payload, out);
      case "error":
        this.announce(card, out);
        this.#fail(card, errorText(payload["error"]), out);
        return { ended: { name: card.name, isFailed: true } };
      default:
        return {};
    }
  }

  /** Marks a call as shown and over, because the store showed it whole. */
  adopt(id: string): void {
    const card = this.#card(id, "store");
    card.isAnnounced = true;
    card.status = "completed";
  }

  /** The whole card as it stands, for someone who did not see it grow. */
  current(card: ToolCard): Update {
    return { sessionUpdate: "tool_call", toolCallId: card.id, ...this.#look(card), status: card.status };
  }

  /** The card a question hangs on: some clients refuse a question about a call they never saw. */
  forAsk(id: string, name: string | undefined, input: JsonObject | undefined, turn: string, out: Update[]): ToolCard {
    const card = this.#card(id, turn);
    if (name !== undefined) card.name ??= name;
    if (input !== undefined && !FINAL.has(card.status)) card.input ??= input;
    this.announce(card, out);
    return card;
  }

  /** Closes what a turn leaves open (C3). `note` says why where it is not obvious. */
  closeTurn(turn: string, note: string | undefined, out: Update[]): void {
    for (const card of this.#cards.values()) {
      if (card.turn !== turn || card.isBackground) continue;
      if (card.isAnnounced && !FINAL.has(card.status)) this.#fail(card, note, out);
      else if (!card.isAnnounced) this.#cards.delete(card.id);
    }
  }

  /** Ends a card with this status and these members. Nothing happens to a final one (C2). */
  finish(card: ToolCard, status: "completed" | "failed", members: JsonObject, out: Update[]): void {
    if (FINAL.has(card.status)) return;
    card.status = status;
    card.isBackground = false;
    delete card.input;
    out.push({ sessionUpdate: "tool_call_update", toolCallId: card.id, status, ...members });
  }

  /** `_meta` of a terminal that ended. */
  exitMeta(card: ToolCard, exitCode: number): JsonObject {
    return { ...this.#meta(card), terminal_exit: { terminal_id: card.id, exit_code: exitCode, signal: null } };
  }

  /** A piece of terminal output (C4). */
  pushOutput(card: ToolCard, data: string, out: Update[]): void {
    if (data === "") return;
    card.hasStreamed = true;
    out.push({
      sessionUpdate: "tool_call_update",
      toolCallId: card.id,
      _meta: { terminal_output: { terminal_id: card.id, data } },
    });
  }

  terminalContent(card: ToolCard): JsonObject {
    return { content: [{ type: "terminal", terminalId: card.id }] };
  }

  /** Sends the `tool_call` unless it was sent (C1). */
  announce(card: ToolCard, out: Update[]): void {
    if (card.isAnnounced) return;
    card.isAnnounced = true;
    card.isTerminal = card.name === "Bash" && this.#hasTerminal();
    out.push({ sessionUpdate: "tool_call", toolCallId: card.id, ...this.#look(card), status: "pending" });
  }

  #look(card: ToolCard): JsonObject {
    const locations = toolLocations(card.name, card.input);
    const meta: JsonObject = this.#meta(card);
    if (isAgentTool(card.name)) meta["subagent"] = true;
    if (card.isTerminal) meta["terminal_info"] = { terminal_id: card.id };
    return {
      title: toolTitle(card.name, card.input),
      kind: toolKind(card.name),
      rawInput: card.input ?? {},
      ...(locations === undefined ? {} : { locations }),
      ...(card.isTerminal ? this.terminalContent(card) : {}),
      _meta: meta,
    };
  }

  #meta(card: ToolCard): JsonObject {
    const parent = card.parent === undefined ? {} : { parentToolUseId: card.parent };
    return card.name === undefined ? {} : { claudeCode: { toolName: card.name, ...parent } };
  }

  #card(id: string, turn: string): ToolCard {
    const known = this.#cards.get(id);
    if (known !== undefined) return known;
    this.#makeRoom();
    const card: ToolCard = {
      id,
      status: "pending",
      isAnnounced: false,
      isTerminal: false,
      isBackground: false,
      hasStreamed: false,
      turn,
      out: new TailDiff(),
      err: new TailDiff(),
    };
    this.#cards.set(id, card);
    return card;
  }

  /** Finished cards are only kept so that a late event cannot open them again; the oldest of them can go. */
  #makeRoom(): void {
    if (this.#cards.size < CARDS_MAX) return;
    for (const card of this.#cards.values()) {
      if (!FINAL.has(card.status)) continue;
      this.#cards.delete(card.id);
      return;
    }
  }

  #learn(card: ToolCard, payload: JsonObject): void {
    const name = stringAt(payload, "toolName");
    const input = objectAt(payload, "input");
    if (name !== undefined) card.name = name;
    if (input !== undefined && Object.keys(input).length > 0) card.input = input;
    const parent = stringAt(payload, "parentToolCallId");
    if (parent !== undefined) card.parent = parent;
  }

  #refresh(card: ToolCard): Update {
    const { _meta, content: _content, ...look } = this.#look(card);
    return {
      sessionUpdate: "tool_call_update",
      toolCallId: card.id,
      ...look,
      ...(_meta === undefined ? {} : { _meta }),
    };
  }

  #progressed(card: ToolCard, out: Update[]): void {
    if (card.status === "in_progress") return;
    card.status = "in_progress";
    out.push({ sessionUpdate: "tool_call_update", toolCallId: card.id, status: "in_progress" });
  }

  #progress(card: ToolCard, payload: JsonObject, out: Update[]): void {
    const stdout = stringAt(payload, "stdoutTail");
    const stderr = stringAt(payload, "stderrTail");
    if (card.isTerminal) {
      this.#progressed(card, out);
      const fresh =
        (stdout === undefined ? "" : card.out.next(stdout, numberAt(payload, "stdoutBytes"))) +
        (stderr === undefined ? "" : card.err.next(stderr, numberAt(payload, "stderrBytes")));
      return this.pushOutput(card, fresh, out);
    }
    const text =
      [stdout, stderr].filter((part) => part !== undefined && part !== "").join("\n") ||
      stringAt(payload, "outputPreview");
    card.status = "in_progress";
    out.push({
      sessionUpdate: "tool_call_update",
      toolCallId: card.id,
      status: "in_progress",
      ...(text === undefined || text === ""
        ? {}
        : {
            rawOutput: text.slice(-RAW_OUTPUT_MAX),
            content: [textBlock(card.name === "Bash" ? fenced(text, "console") : text)],
          }),
    });
  }

  #result(card: ToolCard, payload: JsonObject, out: Update[]): ToolFollowUp {
    // Older builds give the text itself.
    const result = objectAt(payload, "result") ?? { content: payload["result"] };
    const isFailed = result["success"] === false;
    const isLaunch = card.name === "Bash" && card.input?.["run_in_background"] === true && !isFailed;
    if (isLaunch) {
      card.isBackground = true;
      card.turn = undefined;
      this.#progressed(card, out);
      return { ended: { name: card.name } };
    }
    const text = resultText(result["content"]);
    const status = isFailed ? "failed" : "completed";
    const name = card.name;
    if (card.isTerminal) {
      if (!card.hasStreamed) this.pushOutput(card, text, out);
      const code = numberAt(objectAt(result, "perf"), "exitCode") ?? (isFailed ? 1 : 0);
      this.finish(card, status, { ...this.terminalContent(card), _meta: this.exitMeta(card, code) }, out);
      return { ended: { name, isFailed } };
    }
    const diff = diffOf(objectAt(result, "display"));
    this.finish(card, status, this.#finalLook(card, text, isFailed), out);
    if (diff !== undefined) out.push(diffUpdate(card.id, diff.content, diff.locations));
    const wantsDiff = !isFailed && diff === undefined && (name === undefined || isEditTool(name));
    return { ended: { name, isFailed }, ...(wantsDiff ? { wantsDiff: card.id } : {}) };
  }

  #finalLook(card: ToolCard, text: string, isFailed: boolean): JsonObject {
    const shown = bounded(text);
    const body = card.name === "Bash" ? fenced(shown, "console") : isFailed ? fenced(shown) : shown;
    const locations = toolLocations(card.name, card.input);
    const meta = this.#meta(card);
    if (isAgentTool(card.name)) meta["subagent"] = subagentMeta(text, card.input?.["run_in_background"] === true);
    return {
      rawOutput: text.slice(0, RAW_OUTPUT_MAX),
      ...(text === "" ? {} : { content: [textBlock(body)] }),
      ...(locations === undefined ? {} : { locations }),
      _meta: meta,
    };
  }

  #fail(card: ToolCard, text: string | undefined, out: Update[]): void {
    if (card.isTerminal) {
      if (text !== undefined && !card.hasStreamed) this.pushOutput(card, text, out);
      return this.finish(card, "failed", { ...this.terminalContent(card), _meta: this.exitMeta(card, 1) }, out);
    }
    const members =
      text === undefined
        ? {}
        : { rawOutput: text.slice(0, RAW_OUTPUT_MAX), content: [textBlock(fenced(bounded(text)))] };
    this.finish(card, "failed", { ...members, _meta: this.#meta(card) }, out);
  }

  #batch(payload: JsonObject, out: Update[]): ToolFollowUp {
    const isFailed = (numberAt(payload, "successCount") ?? 1) === 0 && (numberAt(payload, "errorCount") ?? 0) > 0;
    for (const id of batchIds(payload)) {
      const card = this.#cards.get(id);
      if (card === undefined || !card.isAnnounced || card.isBackground || FINAL.has(card.status)) continue;
      if (card.isTerminal) {
        const members = { ...this.terminalContent(card), _meta: this.exitMeta(card, isFailed ? 1 : 0) };
        this.finish(card, isFailed ? "failed" : "completed", members, out);
      } else this.finish(card, isFailed ? "failed" : "completed", {}, out);
    }
    return { ended: { name: undefined } };
  }
}

/** The update that shows a diff on a finished edit. */
export function diffUpdate(id: string, content: readonly JsonObject[], locations: readonly JsonObject[]): Update {
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: id,
    status: "completed",
    content: [...content],
    locations: [...locations],
  };
}
