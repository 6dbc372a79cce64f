/** OpenAI responses. */
import { arrayAt, isObject, type JsonObject, stringAt } from "../../../src/protocol/json.ts";
import { type Dialect, type ModelCall, type Part, type ReplyWriter, sse } from "./dialect.ts";

const USAGE: JsonObject = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};

export const openaiResponses: Dialect = {
  name: "openai-responses",

  read(path, body) {
    if (!path.endsWith("/responses")) return undefined;
    const tools = (arrayAt(body, "tools") ?? []).map((tool) =>
      isObject(tool) ? (stringAt(tool, "name") ?? stringAt(tool, "type") ?? "") : "",
    );
    return { dialect: this.name, path, body, tools, isStreaming: body["stream"] === true };
  },

  writer: (call, replyId) => new ResponsesWriter(call, replyId),

  whole: (call, replyId, parts) => response(call, replyId, "completed", joined(replyId, parts)),
};

class ResponsesWriter implements ReplyWriter {
  readonly #call: ModelCall;
  readonly #replyId: string;
  readonly #items: JsonObject[] = [];
  #text = "";
  #sequence = 0;

  constructor(call: ModelCall, replyId: string) {
    this.#call = call;
    this.#replyId = replyId;
  }

  begin(): string {
    return this.#event("response.created", { response: response(this.#call, this.#replyId, "in_progress", []) });
  }

  part(part: Part): string {
    if (part.kind === "tool") return this.#endText() + this.#whole(toolItem(part));
    const opened = this.#text === "" ? this.#openText() : "";
    this.#text += part.text;
    const at = { item_id: this.#messageId, output_index: this.#items.length, content_index: 0 };
    return opened + this.#event("response.output_text.delta", { ...at, delta: part.text });
  }

  end(): string {
    const ended = this.#endText();
    return (
      ended +
      this.#event("response.completed", { response: response(this.#call, this.#replyId, "completed", this.#items) })
    );
  }

  get #messageId(): string {
    return `msg_${this.#replyId}_${this.#items.length}`;
  }

  #openText(): string {
    const item = messageItem(this.#messageId, "", "in_progress");
    const at = { output_index: this.#items.length };
    return (
      this.#event("response.output_item.added", { ...at, item }) +
      this.#event("response.content_part.added", { ...at, item_id: this.#messageId, content_index: 0, part: text("") })
    );
  }

  #endText(): string {
    if (this.#text === "") return "";
    const at = { item_id: this.#messageId, output_index: this.#items.length, content_index: 0 };
    const item = messageItem(this.#messageId, this.#text, "completed");
    const done =
      this.#event("response.output_text.done", { ...at, text: this.#text }) +
      this.#event("response.content_part.done", { ...at, part: text(this.#text) }) +
      this.#event("response.output_item.done", { output_index: this.#items.length, item });
    this.#text = "";
    this.#items.push(item);
    return done;
  }

  #whole(item: JsonObject): string {
    const at = { output_index: this.#items.length };
    this.#items.push(item);
    return (
      this.#event("response.output_item.added", { ...at, item: { ...item, status: "in_progress", arguments: "" } }) +
      this.#event("response.output_item.done", { ...at, item })
    );
  }

  #event(type: string, fields: JsonObject): string {
    this.#sequence += 1;
    return sse({ type, sequence_number: this.#sequence, ...fields }, type);
  }
}

const text = (value: string): JsonObject => ({ type: "output_text", text: value, annotations: [] });

const messageItem = (id: string, value: string, status: string): JsonObject => ({
  id,
  type: "message",
  role: "assistant",
  status,
  content: value === "" ? [] : [text(value)],
});

const toolItem = (part: Extract<Part, { kind: "tool" }>): JsonObject => ({
  id: `fc_${part.id}`,
  type: "function_call",
  status: "completed",
  call_id: part.id,
  name: part.name,
  arguments: JSON.stringify(part.args),
});

const joined = (replyId: string, parts: readonly Part[]): JsonObject[] =>
  parts.map((part, index) =>
    part.kind === "tool" ? toolItem(part) : messageItem(`msg_${replyId}_${index}`, part.text, "completed"),
  );

const response = (call: ModelCall, replyId: string, status: string, output: JsonObject[]): JsonObject => ({
  id: `resp_${replyId}`,
  object: "response",
  created_at: 1,
  model: stringAt(call.body, "model") ?? "fake",
  status,
  output,
  ...(status === "completed" && { usage: USAGE }),
});
