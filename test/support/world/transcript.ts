/** What an honest client shows of one session, and the form of it two clients are compared in. */
import { CHUNK_KINDS, STATE_KINDS } from "../../../src/protocol/acp.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../../src/protocol/json.ts";
import type { Stamp } from "../../../src/protocol/meta.ts";

type Entry =
  | {
      readonly kind: "text";
      readonly role: string;
      readonly messageId: string | undefined;
      text: string;
      readonly by: string | undefined;
    }
  | { readonly kind: "card"; readonly toolCallId: string; card: JsonObject }
  | { readonly kind: "other"; readonly update: JsonObject; readonly by: string | undefined };

export class Transcript {
  readonly entries: Entry[] = [];
  readonly states: Map<string, JsonObject> = new Map();
  /** Stop reasons and settlements as they were announced. */
  readonly notices: { readonly seq: number; readonly method: string }[] = [];

  /** Applies one update. `by` is the connection an echoed prompt names. */
  apply(update: JsonObject, stamp: Stamp | undefined): void {
    const kind = stringAt(update, "sessionUpdate") ?? "";
    if (STATE_KINDS.has(kind)) {
      const before = kind === "session_info_update" ? this.states.get(kind) : undefined;
      this.states.set(kind, { ...before, ...update });
    } else if (kind === "tool_call" || kind === "tool_call_update") this.#card(update);
    else if (CHUNK_KINDS.has(kind)) this.#chunk(kind, update, stamp?.by?.connectionId);
    else this.entries.push({ kind: "other", update, by: stamp?.by?.connectionId });
  }

  /** Text of a role, joined. */
  text(role = "agent_message_chunk"): string {
    return this.entries.map((entry) => (entry.kind === "text" && entry.role === role ? entry.text : "")).join("");
  }

  card(toolCallId: string): JsonObject | undefined {
    const entry = this.entries.find((each) => each.kind === "card" && each.toolCallId === toolCallId);
    return entry?.kind === "card" ? entry.card : undefined;
  }

  /** The comparable form. Prompts of the connections `without` are left out: their author shows them from its own input. */
  normal(without: ReadonlySet<string> = new Set()): Json {
    const entries: Json[] = [];
    let last: { role: string; messageId: string | undefined; by: string | undefined; text: string } | undefined;
    for (const entry of this.entries) {
      if (entry.kind !== "card" && entry.by !== undefined && without.has(entry.by)) continue;
      if (entry.kind === "text") {
        const isSame = last?.role === entry.role && last.messageId === entry.messageId && last.by === entry.by;
        if (isSame && last !== undefined) {
          last.text += entry.text;
          entries[entries.length - 1] = textOf(last);
          continue;
        }
        last = { role: entry.role, messageId: entry.messageId, by: entry.by, text: entry.text };
        entries.push(textOf(last));
      } else {
        last = undefined;
        entries.push(entry.kind === "card" ? { card: sorted(entry.card) } : { update: sorted(entry.update) });
      }
    }
    const states: JsonObject = {};
    for (const key of [...this.states.keys()].sort()) states[key] = sorted(this.states.get(key) ?? {});
    return { entries, states };
  }

  #card(update: JsonObject): void {
    const toolCallId = stringAt(update, "toolCallId") ?? "";
    const { sessionUpdate: _kind, ...fields } = update;
    const known = this.entries.find((entry) => entry.kind === "card" && entry.toolCallId === toolCallId);
    if (known?.kind !== "card") {
      this.entries.push({ kind: "card", toolCallId, card: fields });
      return;
    }
    for (const [key, value] of Object.entries(fields)) {
      if (value === null || value === undefined) continue;
      known.card[key] = key === "_meta" && isObject(value) ? mergedMeta(known.card, value) : value;
    }
  }

  #chunk(role: string, update: JsonObject, by: string | undefined): void {
    const content = objectAt(update, "content");
    const text = content?.["type"] === "text" ? stringAt(content, "text") : undefined;
    if (text === undefined) this.entries.push({ kind: "other", update, by });
    else this.entries.push({ kind: "text", role, messageId: stringAt(update, "messageId"), text, by });
  }
}

/** Terminal output streams: pieces add up. */
function mergedMeta(card: JsonObject, value: JsonObject): JsonObject {
  const before = objectAt(card, "_meta") ?? {};
  const [old, piece] = [objectAt(before, "terminal_output"), objectAt(value, "terminal_output")];
  const isStream = old !== undefined && piece !== undefined && old["terminal_id"] === piece["terminal_id"];
  const data = isStream ? `${stringAt(old, "data") ?? ""}${stringAt(piece, "data") ?? ""}` : undefined;
  return { ...before, ...value, ...(data !== undefined && { terminal_output: { ...piece, data } }) };
}

const textOf = (entry: { role: string; messageId: string | undefined; text: string }): JsonObject => ({
  role: entry.role,
  messageId: entry.messageId ?? null,
  text: entry.text,
});

function sorted(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key of Object.keys(object).sort()) copy[key] = object[key];
  return copy;
}
