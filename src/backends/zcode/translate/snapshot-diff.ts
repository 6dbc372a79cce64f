/**
 * What the store has of a turn that its events did not show. Nothing is shown twice: text is compared with what was
 * streamed and only the rest is given; tools are given only when no event ever named them.
 */
import { arrayAt, type JsonObject, stringAt } from "../../../protocol/json.ts";
import { textBlock, type Update } from "./event.ts";
import { displayOf, isNotification, isPrompt, textOf, toolsOf, type ZMessage, type ZToolPart } from "./messages.ts";
import { storedStatus, storedToolCard } from "./stored-tool.ts";
import type { Delivered, TurnText } from "./stream.ts";
import type { ToolCards } from "./tool-cards.ts";
import { errorText, resultText } from "./tool-result.ts";

export interface TurnShown {
  readonly text: TurnText;
  readonly delivered: Delivered;
  readonly cards: ToolCards;
  /** Hashes of patches already shown in this session. */
  readonly patches: Set<string>;
}

/**
 * The assistant messages that answer a prompt: those after its user message and before the next one. `sent` is the text
 * as the backend got it. `isAfterCancel` when a cancelled turn came right before: its late messages are then told apart
 * strictly. Undefined when the prompt is not in the list: nothing in it can be told apart.
 */
export function answersTo(messages: readonly ZMessage[], sent: string, isAfterCancel: boolean): ZMessage[] | undefined {
  const wanted = sent.trim();
  const exact = messages.findLastIndex((message) => isPrompt(message) && textOf(message).trim() === wanted);
  // A backend may store a prompt in other words (an expanded command); then it is the last one there is.
  const start = exact !== -1 || isAfterCancel ? exact : messages.findLastIndex(isPrompt);
  const prompt = messages[start];
  return prompt === undefined ? undefined : ownAnswers(prompt, messages.slice(start + 1), messages, isAfterCancel);
}

/** The assistant messages of one stretch that belong to `prompt`: by their parent where it is named, else by place. */
function ownAnswers(
  prompt: ZMessage,
  stretch: readonly ZMessage[],
  all: readonly ZMessage[],
  isAfterCancel: boolean,
): ZMessage[] {
  const known = new Set(all.map((message) => message.id));
  const ownIds = new Set([prompt.id]);
  const own: ZMessage[] = [];
  let isForeign = false;
  for (const message of stretch) {
    if (isPrompt(message)) break;
    if (message.role === "user") isForeign = isNotification(message);
    if (message.role !== "assistant" || message.isHidden) continue;
    const parent = message.parentId;
    const isNamed = parent !== undefined && (known.has(parent) || isAfterCancel);
    if (isNamed ? !ownIds.has(parent) : isForeign) continue;
    ownIds.add(message.id);
    own.push(message);
  }
  return own;
}

/** Pushes what was not shown yet. True when there was any text among the answers, shown before or now. */
export function pushUndelivered(answers: readonly ZMessage[], shown: TurnShown, out: Update[]): boolean {
  const unnamed = { text: "", thought: "" };
  let hasText = false;
  for (const message of answers) {
    const text = textOf(message);
    const thought = textOf(message, "reasoning");
    hasText ||= text !== "";
    pushText(shown, "thought", message.id, thought, unnamed, out);
    pushText(shown, "text", message.id, text, unnamed, out);
    for (const tool of toolsOf(message)) {
      if (shown.cards.get(tool.callId)?.isAnnounced === true) finishFromStore(tool, shown.cards, out);
      else {
        shown.cards.adopt(tool.callId);
        out.push(storedToolCard(tool, true));
      }
    }
    pushPatches(message, shown.patches, out);
  }
  return hasText;
}

function pushText(
  shown: TurnShown,
  kind: "text" | "thought",
  id: string | undefined,
  full: string,
  unnamed: { text: string; thought: string },
  out: Update[],
): void {
  if (full === "") return;
  const before = id === undefined ? undefined : shown.delivered[kind].get(id);
  if (before !== undefined) {
    const rest = before.remainder(full);
    if (rest !== undefined && rest !== "") showWhole(shown, kind, id, rest, out);
    return;
  }
  const anonymous = kind === "text" ? shown.text.anonymous : shown.text.anonymousThought;
  if (id !== undefined && anonymous.length === 0) {
    showWhole(shown, kind, id, full, out);
    return;
  }
  // Deltas without message ids can only be matched in order: this message begins where the last one ended.
  unnamed[kind] += full;
  const rest = anonymous.remainder(unnamed[kind]);
  if (rest !== undefined && rest !== "") shown.text[kind](rest, undefined, out);
}

function showWhole(
  shown: TurnShown,
  kind: "text" | "thought",
  id: string | undefined,
  rest: string,
  out: Update[],
): void {
  shown.text[kind](rest, id, out);
  const text = id === undefined ? undefined : shown.delivered[kind].get(id);
  if (text !== undefined) text.isWhole = true;
}

/** A call whose end was lost on the way: the store knows how it ended. */
function finishFromStore(tool: ZToolPart, cards: ToolCards, out: Update[]): void {
  const card = cards.get(tool.callId);
  const status = storedStatus(tool);
  if (card === undefined || card.isBackground || cards.isFinal(card.id)) return;
  if (status !== "completed" && status !== "failed") return;
  const text =
    status === "failed" && tool.state["error"] !== undefined
      ? errorText(tool.state["error"])
      : resultText(tool.state["output"]);
  const result = {
    success: status === "completed",
    content: text,
    ...(displayOf(tool) === undefined ? {} : { display: displayOf(tool) }),
  };
  cards.apply({ kind: "result", toolCallId: card.id, result }, card.turn ?? "store", out);
}

function pushPatches(message: ZMessage, shown: Set<string>, out: Update[]): void {
  for (const part of message.parts) {
    const hash = stringAt(part.raw, "hash");
    if (part.type !== "patch" || hash === undefined || shown.has(hash)) continue;
    shown.add(hash);
    const update = patchCard(part.raw, hash);
    if (update !== undefined) out.push(update);
  }
}

/** The card that lists the files a turn changed. */
export function patchCard(raw: JsonObject, hash: string): Update | undefined {
  const files = (arrayAt(raw, "files") ?? []).filter((file): file is string => typeof file === "string");
  if (files.length === 0) return undefined;
  const shortList = files.slice(0, 3).join(", ");
  return {
    sessionUpdate: "tool_call",
    toolCallId: `files_${hash}`,
    title: `changed files (${files.length}): ${shortList}${files.length > 3 ? ", …" : ""}`,
    kind: "edit",
    status: "completed",
    content: [textBlock(files.join("\n"))],
    locations: files.map((path) => ({ path })),
  };
}
