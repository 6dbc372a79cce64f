/** OpenAI chat completions. */
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";
import { type Dialect, type ModelCall, type Part, type ReplyWriter, sse, textOf, toolsOf } from "./dialect.ts";

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

export const openaiChat: Dialect = {
  name: "openai-chat",

  read(path, body) {
    if (!path.endsWith("/chat/completions")) return undefined;
    const tools = (arrayAt(body, "tools") ?? []).map((tool) =>
      isObject(tool) ? (stringAt(objectAt(tool, "function"), "name") ?? "") : "",
    );
    return { dialect: this.name, path, body, tools, isStreaming: body["stream"] === true };
  },

  writer: (call, replyId) => new ChatWriter(call, replyId),

  whole(call, replyId, parts) {
    const tools = toolsOf(parts);
    const message: JsonObject = {
      role: "assistant",
      content: textOf(parts),
      ...(tools.length > 0 && { tool_calls: tools.map(toolCall) }),
    };
    const choice: JsonObject = { index: 0, message, finish_reason: finishOf(tools.length) };
    return { ...frame(call, replyId, "chat.completion"), choices: [choice], usage: USAGE };
  },
};

class ChatWriter implements ReplyWriter {
  readonly #call: ModelCall;
  readonly #replyId: string;
  #tools = 0;

  constructor(call: ModelCall, replyId: string) {
    this.#call = call;
    this.#replyId = replyId;
  }

  begin(): string {
    return this.#chunk({ role: "assistant", content: "" }, null);
  }

  part(part: Part): string {
    if (part.kind === "text") return this.#chunk({ content: part.text }, null);
    const index = this.#tools;
    this.#tools += 1;
    return this.#chunk({ tool_calls: [{ index, ...toolCall(part) }] }, null);
  }

  end(): string {
    const usage = sse({ ...frame(this.#call, this.#replyId, "chat.completion.chunk"), choices: [], usage: USAGE });
    return `${this.#chunk({}, finishOf(this.#tools))}${usage}data: [DONE]\n\n`;
  }

  #chunk(delta: JsonObject, finish: string | null): string {
    const choices: JsonObject[] = [{ index: 0, delta, finish_reason: finish }];
    return sse({ ...frame(this.#call, this.#replyId, "chat.completion.chunk"), choices });
  }
}

const finishOf = (tools: number): string => (tools > 0 ? "tool_calls" : "stop");

const frame = (call: ModelCall, id: string, object: string): JsonObject => ({
  id,
  object,
  created: 1,
  model: stringAt(call.body, "model") ?? "fake",
});

const toolCall = (part: Extract<Part, { kind: "tool" }>): JsonObject => ({
  id: part.id,
  type: "function",
  function: { name: part.name, arguments: JSON.stringify(part.args) },
});
