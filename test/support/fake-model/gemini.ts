/** Google's generateContent. */
import { arrayAt, isObject, type JsonObject, stringAt } from "../../../src/protocol/json.ts";
import { type Dialect, type ModelCall, type Part, type ReplyWriter, sse } from "./dialect.ts";

const USAGE: JsonObject = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

export const gemini: Dialect = {
  name: "gemini",

  read(path, body) {
    const isStreaming = path.includes(":streamGenerateContent");
    if (!isStreaming && !path.includes(":generateContent")) return undefined;
    return { dialect: this.name, path, body, tools: toolNames(body), isStreaming };
  },

  writer: (call, replyId) => new GeminiWriter(call, replyId),

  whole: (call, replyId, parts) => candidate(call, replyId, parts.map(partOf), "STOP"),
};

class GeminiWriter implements ReplyWriter {
  readonly #call: ModelCall;
  readonly #replyId: string;

  constructor(call: ModelCall, replyId: string) {
    this.#call = call;
    this.#replyId = replyId;
  }

  begin(): string {
    return "";
  }

  part(part: Part): string {
    return sse(candidate(this.#call, this.#replyId, [partOf(part)]));
  }

  end(): string {
    return sse(candidate(this.#call, this.#replyId, [{ text: "" }], "STOP"));
  }
}

function toolNames(body: JsonObject): string[] {
  return (arrayAt(body, "tools") ?? []).flatMap((tool) =>
    (isObject(tool) ? (arrayAt(tool, "functionDeclarations") ?? []) : []).map((declared) =>
      isObject(declared) ? (stringAt(declared, "name") ?? "") : "",
    ),
  );
}

const partOf = (part: Part): JsonObject =>
  part.kind === "text"
    ? { text: part.text }
    : { functionCall: { id: part.id, name: part.name, args: part.args as JsonObject } };

const candidate = (call: ModelCall, responseId: string, parts: JsonObject[], finishReason?: string): JsonObject => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason !== undefined && { finishReason }) }],
  usageMetadata: USAGE,
  modelVersion: stringAt(call.body, "model") ?? "fake",
  responseId,
});
