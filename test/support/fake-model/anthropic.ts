/** Anthropic messages. */
import { arrayAt, isObject, type JsonObject, stringAt } from "../../../src/protocol/json.ts";
import { type Dialect, type ModelCall, type Part, type ReplyWriter, sse, toolsOf } from "./dialect.ts";

const USAGE: JsonObject = { input_tokens: 10, output_tokens: 5 };

export const anthropic: Dialect = {
  name: "anthropic",

  read(path, body) {
    if (!path.endsWith("/messages")) return undefined;
    const tools = (arrayAt(body, "tools") ?? []).map((tool) => (isObject(tool) ? (stringAt(tool, "name") ?? "") : ""));
    return { dialect: this.name, path, body, tools, isStreaming: body["stream"] === true };
  },

  writer: (call, replyId) => new MessagesWriter(call, replyId),

  whole(call, replyId, parts) {
    const content = parts.map((part) => (part.kind === "text" ? { type: "text", text: part.text } : toolBlock(part)));
    return { ...message(call, replyId), content, stop_reason: stopOf(toolsOf(parts).length > 0) };
  },
};

class MessagesWriter implements ReplyWriter {
  readonly #call: ModelCall;
  readonly #replyId: string;
  #index = -1;
  #isTextOpen = false;
  #hasTools = false;

  constructor(call: ModelCall, replyId: string) {
    this.#call = call;
    this.#replyId = replyId;
  }

  begin(): string {
    return this.#event("message_start", {
      message: { ...message(this.#call, this.#replyId), content: [], stop_reason: null },
    });
  }

  part(part: Part): string {
    if (part.kind === "text") {
      const opened = this.#isTextOpen ? "" : this.#open({ type: "text", text: "" });
      this.#isTextOpen = true;
      return opened + this.#delta({ type: "text_delta", text: part.text });
    }
    const closed = this.#closeText();
    this.#hasTools = true;
    return (
      closed +
      this.#open({ ...toolBlock(part), input: {} }) +
      this.#delta({ type: "input_json_delta", partial_json: JSON.stringify(part.args) }) +
      this.#event("content_block_stop", { index: this.#index })
    );
  }

  end(): string {
    const delta: JsonObject = { stop_reason: stopOf(this.#hasTools), stop_sequence: null };
    return this.#closeText() + this.#event("message_delta", { delta, usage: USAGE }) + this.#event("message_stop", {});
  }

  #open(block: JsonObject): string {
    this.#index += 1;
    return this.#event("content_block_start", { index: this.#index, content_block: block });
  }

  #closeText(): string {
    if (!this.#isTextOpen) return "";
    this.#isTextOpen = false;
    return this.#event("content_block_stop", { index: this.#index });
  }

  #delta(delta: JsonObject): string {
    return this.#event("content_block_delta", { index: this.#index, delta });
  }

  #event(type: string, fields: JsonObject): string {
    return sse({ type, ...fields }, type);
  }
}

const stopOf = (hasTools: boolean): string => (hasTools ? "tool_use" : "end_turn");

const message = (call: ModelCall, replyId: string): JsonObject => ({
  id: `msg_${replyId}`,
  type: "message",
  role: "assistant",
  model: stringAt(call.body, "model") ?? "fake",
  stop_sequence: null,
  usage: USAGE,
});

const toolBlock = (part: Extract<Part, { kind: "tool" }>): JsonObject => ({
  type: "tool_use",
  id: part.id,
  name: part.name,
  input: part.args as JsonObject,
});
