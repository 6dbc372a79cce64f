/** One model API: which paths are its own, what a request of it means, how a reply is written in it. */
import type { JsonObject } from "../../../src/protocol/json.ts";
import type { Step } from "./script.ts";

export interface ModelCall {
  readonly dialect: string;
  readonly path: string;
  readonly body: JsonObject;
  /** Names of the tools the agent offers. None: not a step of a turn, but a title, a summary or a check beside it. */
  readonly tools: readonly string[];
  readonly isStreaming: boolean;
}

/** What a reply is made of once its gates are open. */
export type Part = Exclude<Step, { kind: "gate" }> & { readonly id: string };

/** Writes one streamed reply, part by part. Each returned string is sent as it is. */
export interface ReplyWriter {
  begin(): string;
  part(part: Part): string;
  end(): string;
}

export interface Dialect {
  readonly name: string;
  /** Undefined when the request is not this dialect's. */
  read(path: string, body: JsonObject): ModelCall | undefined;
  /** `replyId` is unique: agents make the ids of their messages of it. */
  writer(call: ModelCall, replyId: string): ReplyWriter;
  /** The reply of a call that does not stream. */
  whole(call: ModelCall, replyId: string, parts: readonly Part[]): JsonObject;
}

export const sse = (data: object, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

export const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.kind === "text" ? part.text : "")).join("");

export const toolsOf = (parts: readonly Part[]): Extract<Part, { kind: "tool" }>[] =>
  parts.filter((part) => part.kind === "tool");
