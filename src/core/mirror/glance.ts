/**
 * What a list of sessions shows of one at a glance: its last line, and since when its turn stands as it does. An event costs an
 * assignment here; the line is made when somebody asks. Pure.
 */
import type { TurnState } from "../../protocol/hub-methods.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Journal } from "../journal/journal.ts";
import { type LastLine, messageLine, toolLine } from "../journal/last-line.ts";

export class Glance {
  /** The event a message ended with, or the id of the tool that came after it. */
  #last: number | string | undefined;
  /** The line of `#lineOf`; of an earlier one, or from before, where that has none. */
  #line: LastLine | undefined;
  #lineOf: number | undefined;
  #turn: TurnState | undefined;
  #turnSince = 0;

  onMessage(seq: number): void {
    this.#last = seq;
  }

  onTool(toolCallId: string): void {
    this.#last = toolCallId;
  }

  onTurn(state: TurnState, at: number): void {
    if (state === this.#turn) return;
    this.#turn = state;
    this.#turnSince = at;
  }

  /** Undefined where the events seen do not end in this state, or the one that led to it has no time. */
  since(state: TurnState): number | undefined {
    return state === this.#turn && this.#turnSince > 0 ? this.#turnSince : undefined;
  }

  remember(line: LastLine | undefined): void {
    this.#line ??= line;
  }

  line(journal: Journal, cardOf: (toolCallId: string) => JsonObject | undefined): LastLine | undefined {
    const last = this.#last;
    if (typeof last === "string") this.#line = toolLine(cardOf(last)) ?? this.#line;
    else if (last !== this.#lineOf && last !== undefined) {
      this.#line = messageLine(journal.backFrom(last)) ?? this.#line;
      this.#lineOf = last;
    }
    return this.#line;
  }
}
