/** The text side of one turn: deltas as message chunks, and a record of what was shown for the comparison at its end. */
import { type JsonObject, stringAt } from "../../../protocol/json.ts";
import { textContent, type Update } from "./event.ts";
import { LiveText, type LiveTexts } from "./live-text.ts";

/** `shown` everything; `notification` a background result, text and cards alone; `silent` nothing. */
export type StreamVoice = "shown" | "notification" | "silent";

/** What was shown of the session's messages, for all turns. Text and reasoning are kept apart: they arrive by different ways. */
export interface Delivered {
  readonly text: LiveTexts;
  readonly thought: LiveTexts;
}

export class TurnText {
  readonly #voice: StreamVoice;
  readonly #fallbackId: string;
  readonly #delivered: Delivered;
  /** All text of the turn in order, and the part of it that came without a message id. */
  readonly all: LiveText = new LiveText();
  readonly anonymous: LiveText = new LiveText();
  readonly anonymousThought: LiveText = new LiveText();
  /** The message the last delta belonged to. */
  lastMessageId: string | undefined;

  constructor(voice: StreamVoice, fallbackId: string, delivered: Delivered) {
    this.#voice = voice;
    this.#fallbackId = fallbackId;
    this.#delivered = delivered;
    this.all.forget();
  }

  /** The messageId clients see: the store's own where there is one, so that a later replay uses the same. */
  messageId(backendId: string | undefined): string {
    return this.#voice === "notification" ? this.#fallbackId : (backendId ?? this.#fallbackId);
  }

  /** A `model.streaming` event. True when something was shown. */
  apply(payload: JsonObject, out: Update[]): boolean {
    const kind = payload["kind"];
    if (kind !== "text_delta" && kind !== "reasoning_delta") return false;
    const delta = stringAt(payload, "delta");
    if (delta === undefined || delta === "") return false;
    const id = stringAt(payload, "assistantMessageId");
    return kind === "text_delta" ? this.text(delta, id, out) : this.thought(delta, id, out);
  }

  text(delta: string, id: string | undefined, out: Update[]): boolean {
    if (id === undefined) this.anonymous.append(delta);
    else if (!this.#delivered.text.append(id, delta)) return false;
    this.all.append(delta);
    this.lastMessageId = id;
    if (this.#voice === "silent") return false;
    out.push({ sessionUpdate: "agent_message_chunk", content: textContent(delta), messageId: this.messageId(id) });
    return true;
  }

  thought(delta: string, id: string | undefined, out: Update[]): boolean {
    if (id === undefined) this.anonymousThought.append(delta);
    else if (!this.#delivered.thought.append(id, delta)) return false;
    if (this.#voice !== "shown") return false;
    const messageId = `thought_${this.messageId(id)}`;
    out.push({ sessionUpdate: "agent_thought_chunk", content: textContent(delta), messageId });
    return true;
  }
}
