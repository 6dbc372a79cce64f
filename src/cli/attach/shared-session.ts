/**
 * What an attached editor has seen of one session: decides for each event whether it is news, so that a link that was away costs
 * the editor nothing and shows it nothing twice (S3, L2). Pure.
 *
 * G1 Of one epoch an event is shown once: what is at or below the cursor is known.
 * G2 While the editor itself loads, everything is shown: it asked for it.
 * G3 A prompt of this editor is never shown to it as somebody's (B3), whatever connection it was sent on.
 */
import { CHUNK_KINDS } from "../../protocol/acp.ts";
import type { Cursor } from "../../protocol/ids.ts";
import { epoch } from "../../protocol/ids.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { readCursor, type Stamp } from "../../protocol/meta.ts";

/** `cut`: the beginning of the text is known; only so many of its last characters are news. */
export type Admission = "show" | "known" | { readonly cut: number };

/** Text of the message that is being written, kept to find where a joined repetition of it goes on. */
const RUN_MAX = 1_048_576;
/** Prompts of this editor that are remembered; an echo comes soon or never. */
const PROMPTS_MAX = 256;

export class SharedSession {
  readonly id: string;
  /** The editor has its history, or began it: a return without any cursor gives all of it, else nothing. */
  readonly isWhole: boolean;
  readonly cwd: string | undefined;
  /** Which instance it was attached on, where the connection spans several (S9). */
  instance: string | undefined;
  /** It has ended, or the editor closed it: it is not attached again. */
  isOver = false;
  #cursor: Cursor | undefined;
  /** Prompts of this editor, by their ids. */
  readonly #ownPrompts = new Set<string>();
  #run: { readonly key: string; text: string } | undefined;
  /** The editor's own load is being answered. */
  #isLoading = false;
  /** We attach it anew after a loss. */
  #isReturning = false;

  constructor(id: string, isWhole: boolean, cwd: string | undefined) {
    this.id = id;
    this.isWhole = isWhole;
    this.cwd = cwd;
  }

  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** The editor asks for the history: what comes is a new showing. */
  onLoadAsked(): void {
    this.#isLoading = true;
    this.#cursor = undefined;
    this.#run = undefined;
    this.#ownPrompts.clear();
  }

  /** The editor's load is answered. */
  onLoadAnswered(result: JsonObject | undefined): void {
    this.#isLoading = false;
    this.#take(result);
  }

  onReturnAsked(): void {
    this.#isReturning = true;
  }

  onReturned(result: JsonObject | undefined): void {
    this.#isReturning = false;
    this.#take(result);
  }

  onPrompt(promptId: string): void {
    this.#ownPrompts.add(promptId);
    const [oldest] = this.#ownPrompts;
    if (oldest !== undefined && this.#ownPrompts.size > PROMPTS_MAX) this.#ownPrompts.delete(oldest);
  }

  /** A numbered event of this session. */
  admit(stamp: Stamp, update: JsonObject | undefined): Admission {
    if (stamp.page === true) return "show";
    const { seq } = stamp;
    const before = this.#cursor;
    const isSameEpoch = before?.epoch === stamp.epoch;
    if (isSameEpoch && seq <= before.seq) return "known";
    this.#cursor = { epoch: epoch(stamp.epoch), seq };
    // Another epoch's history on our return: the editor saw that session already, under other numbers.
    const isOtherHistory = this.#isReturning && !isSameEpoch && before !== undefined && stamp.replay === true;
    if (isOtherHistory || this.#isOwnEcho(stamp, update)) return "known";
    const overlaps = isSameEpoch && stamp.from !== undefined && stamp.from <= before.seq;
    return this.#follow(update, overlaps);
  }

  #take(result: JsonObject | undefined): void {
    const ours = objectAt(objectAt(result, "_meta"), "acp-hub");
    const cursor = readCursor(ours?.["cursor"]);
    const isFurther = cursor !== undefined && (cursor.epoch !== this.#cursor?.epoch || cursor.seq > this.#cursor.seq);
    if (isFurther) this.#cursor = cursor;
    this.instance = stringAt(objectAt(ours, "agent"), "instance") ?? this.instance;
  }

  #isOwnEcho(stamp: Stamp, update: JsonObject | undefined): boolean {
    if (stamp.promptId === undefined || !this.#ownPrompts.has(stamp.promptId)) return false;
    return update?.["sessionUpdate"] === "user_message_chunk";
  }

  /** Keeps the text of the running message; finds what is new of one that was joined over the cursor. */
  #follow(update: JsonObject | undefined, overlaps: boolean): Admission {
    const kind = stringAt(update, "sessionUpdate") ?? "";
    const text = stringAt(objectAt(update, "content"), "text");
    if (!CHUNK_KINDS.has(kind) || text === undefined) {
      if (kind !== "") this.#run = undefined;
      return "show";
    }
    const key = `${kind} ${stringAt(update, "messageId") ?? ""}`;
    const run = this.#run?.key === key ? this.#run : undefined;
    if (overlaps && run !== undefined && text.startsWith(run.text)) {
      const cut = text.length - run.text.length;
      run.text = text;
      return cut === 0 ? "known" : { cut };
    }
    const joined = (run?.text ?? "") + text;
    this.#run = joined.length <= RUN_MAX ? { key, text: joined } : undefined;
    return "show";
  }
}
