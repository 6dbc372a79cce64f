/**
 * session/update and the hub's numbered notices → transcript. Pure.
 *
 * T1 The transcript of a replay equals the transcript of the same events live, wherever a cursor cut them.
 * T2 Nothing is dropped for being unknown: unknown kinds stay as raw items.
 * T3 A tool call is one card, whichever of create and update came first; a message is one item per messageId, or per
 *    unbroken run where the agent gives none.
 */

import { ACP } from "../../protocol/acp.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { arrayAt, isObject, type Json, type JsonObject, stringAt } from "../../protocol/json.ts";
import type { Stamp } from "../../protocol/meta.ts";
import { readSettledNotice, readTurnNotice } from "../../protocol/notices.ts";
import { appendBlock } from "./blocks.ts";
import { Draft } from "./draft.ts";
import type { MessageItem, Transcript, TranscriptInput } from "./item.ts";
import { mergeCard } from "./tool-card.ts";

type EventInput = Extract<TranscriptInput, { kind: "event" }>;

export function reduceTranscript(before: Transcript, inputs: readonly TranscriptInput[]): Transcript {
  if (inputs.length === 0) return before;
  const draft = new Draft(before, inputs.length);
  for (const input of inputs) apply(draft, input);
  return draft.finish();
}

function apply(draft: Draft, input: TranscriptInput): void {
  switch (input.kind) {
    case "event":
      applyEvent(draft, input);
      break;
    case "echo":
      applyEcho(draft, input);
      break;
    case "mark": {
      const place = { key: `m${draft.nextUnnumbered()}`, from: undefined };
      draft.push({ ...input, ...place });
      break;
    }
    case "state":
      applyResult(draft, input.result);
      break;
  }
}

function applyEvent(draft: Draft, input: EventInput): void {
  if (input.method === ACP.sessionUpdate) {
    const update = input.params["update"];
    if (isObject(update)) applyUpdate(draft, update, input.stamp);
  } else if (input.method === HUB.turn) applyTurn(draft, input);
  else if (input.method === HUB.interactionSettled) applySettled(draft, input);
}

const MESSAGE_KINDS = new Map<string, MessageItem["kind"]>([
  ["user_message_chunk", "user"],
  ["agent_message_chunk", "agent"],
  ["agent_thought_chunk", "thought"],
]);

/** Kinds of which only the last counts, with what they change. */
const STATE_REDUCERS = new Map<string, (rest: Draft["rest"], update: JsonObject) => Draft["rest"]>([
  ["plan", (rest, update) => ({ ...rest, plan: objects(arrayAt(update, "entries")) })],
  [
    "available_commands_update",
    (rest, update) => ({ ...rest, commands: objects(arrayAt(update, "availableCommands")) }),
  ],
  ["current_mode_update", (rest, update) => ({ ...rest, modes: modesWith(rest.modes, update) })],
  ["config_option_update", (rest, update) => ({ ...rest, configOptions: objects(arrayAt(update, "configOptions")) })],
  ["usage_update", (rest, update) => ({ ...rest, usage: withoutKind(update) })],
  ["session_info_update", (rest, update) => ({ ...rest, info: patched(rest.info, withoutKind(update)) })],
]);

function applyUpdate(draft: Draft, update: JsonObject, stamp: Stamp | undefined): void {
  const kind = stringAt(update, "sessionUpdate") ?? "";
  const message = MESSAGE_KINDS.get(kind);
  const reduceState = STATE_REDUCERS.get(kind);
  if (message !== undefined) applyChunk(draft, message, update, stamp);
  else if (kind === "tool_call" || kind === "tool_call_update") applyTool(draft, update, stamp);
  else if (reduceState !== undefined) draft.rest = reduceState(draft.rest, update);
  else draft.push({ kind: "raw", ...placed(draft, stamp), update });
}

function applyChunk(draft: Draft, kind: MessageItem["kind"], update: JsonObject, stamp: Stamp | undefined): void {
  const messageId = stringAt(update, "messageId");
  const content = update["content"];
  const at = placeOfMessage(draft, kind, messageId, stamp);
  const item = at === undefined ? undefined : draft.items[at];
  if (at === undefined || item === undefined || !isMessage(item)) {
    const blocks = appendBlock([], content);
    const who = { by: stamp?.by, promptId: stamp?.promptId };
    draft.push({ kind, ...placed(draft, stamp), messageId, blocks, ...who, isLocal: false });
    return;
  }
  // The journal's copy of our own prompt takes the place of the echo; what follows of it is appended as usual.
  const blocks = appendBlock(item.isLocal ? [] : item.blocks, content);
  const who = item.isLocal ? { by: stamp?.by ?? item.by, messageId } : {};
  draft.replace(at, {
    ...item,
    ...who,
    blocks,
    isLocal: false,
    ts: stamp?.ts ?? item.ts,
    from: item.from ?? stamp?.from ?? stamp?.seq,
  });
}

const isMessage = (item: { readonly kind: string }): item is MessageItem =>
  item.kind === "user" || item.kind === "agent" || item.kind === "thought";

function placeOfMessage(
  draft: Draft,
  kind: MessageItem["kind"],
  messageId: string | undefined,
  stamp: Stamp | undefined,
): number | undefined {
  if (messageId !== undefined) {
    const known = draft.find(`${kind}:${messageId}`);
    if (known !== undefined) return known;
  }
  const promptId = stamp?.promptId;
  if (kind === "user" && promptId !== undefined) {
    const echo = draft.items.findLastIndex(
      (item) => item.kind === "user" && item.isLocal && item.promptId === promptId,
    );
    if (echo >= 0) return echo;
  }
  const lastAt = draft.items.length - 1;
  const last = draft.items[lastAt];
  if (last === undefined || last.kind !== kind || messageId !== undefined || last.messageId !== undefined)
    return undefined;
  return last.promptId === promptId && last.by?.connectionId === stamp?.by?.connectionId ? lastAt : undefined;
}

function applyTool(draft: Draft, update: JsonObject, stamp: Stamp | undefined): void {
  const toolCallId = stringAt(update, "toolCallId");
  if (toolCallId === undefined) {
    draft.push({ kind: "raw", ...placed(draft, stamp), update });
    return;
  }
  const at = draft.find(`tool:${toolCallId}`);
  const item = at === undefined ? undefined : draft.items[at];
  if (at === undefined || item?.kind !== "tool") {
    const card = mergeCard({}, update);
    draft.push({ kind: "tool", ...placed(draft, stamp), toolCallId, card });
  } else draft.replace(at, { ...item, card: mergeCard(item.card, update), ts: stamp?.ts ?? item.ts });
}

function applyTurn(draft: Draft, input: EventInput): void {
  const notice = readTurnNotice(input.params);
  draft.rest = { ...draft.rest, turn: notice };
  if (notice.stopReason === undefined && notice.error === undefined) return;
  draft.push({ kind: "turn-end", ...placed(draft, input.stamp), notice });
}

function applySettled(draft: Draft, input: EventInput): void {
  const notice = readSettledNotice(input.params);
  if (notice === undefined) return;
  if (notice.toolCallId === undefined) {
    draft.push({ kind: "settled", ...placed(draft, input.stamp), notice });
    return;
  }
  const { settled } = draft.rest;
  const before = settled[notice.toolCallId] ?? [];
  if (before.some((other) => other.interactionId === notice.interactionId)) return;
  draft.rest = { ...draft.rest, settled: { ...settled, [notice.toolCallId]: [...before, notice] } };
}

function applyEcho(draft: Draft, input: Extract<TranscriptInput, { kind: "echo" }>): void {
  const { promptId, ts } = input;
  if (draft.items.some((item) => item.kind === "user" && item.promptId === promptId)) return;
  const blocks = input.blocks.reduce<readonly JsonObject[]>((all, block) => appendBlock(all, block), []);
  const place = { key: `p${promptId}`, from: undefined, ts };
  draft.push({ kind: "user", ...place, messageId: undefined, blocks, by: undefined, promptId, isLocal: true });
}

function applyResult(draft: Draft, result: JsonObject): void {
  const modes = result["modes"];
  const options = arrayAt(result, "configOptions");
  if (isObject(modes)) draft.rest = { ...draft.rest, modes };
  if (options !== undefined) draft.rest = { ...draft.rest, configOptions: objects(options) };
}

/** Key and place of a new item. Keys carry the epoch: numbering starts over with each. */
function placed(draft: Draft, stamp: Stamp | undefined): { key: string; from: number | undefined; ts: number } {
  if (stamp === undefined) return { key: `u${draft.nextUnnumbered()}`, from: undefined, ts: 0 };
  const from = stamp.from ?? stamp.seq;
  return { key: `${stamp.epoch}/${from}`, from, ts: stamp.ts };
}

const objects = (values: readonly Json[] | undefined): readonly JsonObject[] => (values ?? []).filter(isObject);

function withoutKind(update: JsonObject): JsonObject {
  const { sessionUpdate: _kind, ...members } = update;
  return members;
}

/** A patch: what is left out keeps its value, null clears it. */
function patched(before: JsonObject, patch: JsonObject): JsonObject {
  const after: JsonObject = { ...before };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete after[key];
    else after[key] = value;
  }
  return after;
}

function modesWith(modes: JsonObject | undefined, update: JsonObject): JsonObject {
  // The schema says currentModeId; an example in the protocol's own pages says modeId.
  const current = stringAt(update, "currentModeId") ?? stringAt(update, "modeId");
  return { availableModes: [], ...modes, ...(current !== undefined && { currentModeId: current }) };
}
