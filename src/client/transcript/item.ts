/** What a transcript is made of. Plain JSON throughout, so that it can be stored and read again offline. */
import type { SettledNotice, TurnNotice } from "../../protocol/hub-methods.ts";
import type { Cursor } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { By, Stamp } from "../../protocol/meta.ts";

interface Placed {
  /** Stable for the life of the item, unique in the transcript. */
  readonly key: string;
  /** First event covered; undefined for what never had a number (plain agents' peers, local echoes). */
  readonly from: number | undefined;
  /** Epoch milliseconds of the latest event covered; 0 when unknown. */
  readonly ts: number;
}

export interface MessageItem extends Placed {
  readonly kind: "user" | "agent" | "thought";
  readonly messageId: string | undefined;
  /** Content blocks; neighbouring plain text is joined. */
  readonly blocks: readonly JsonObject[];
  readonly by: By | undefined;
  readonly promptId: string | undefined;
  /** True while the text is this client's own echo and the journal's copy has not come. */
  readonly isLocal: boolean;
}

export interface ToolItem extends Placed {
  readonly kind: "tool";
  readonly toolCallId: string;
  /** The tool call with all its updates merged in. */
  readonly card: JsonObject;
}

export interface TurnEndItem extends Placed {
  readonly kind: "turn-end";
  readonly notice: TurnNotice;
}

export interface SettledItem extends Placed {
  readonly kind: "settled";
  readonly notice: SettledNotice;
}

/** Something is missing, or the context behind the text changed. Never hidden from the reader. */
export interface MarkItem extends Placed {
  readonly kind: "mark";
  readonly mark: "gap" | "reset" | "away";
  readonly reason: string;
  /** What was read when this was missed: it stands before the first item that began later. */
  readonly after?: Cursor;
  /** For `away`: what stands below it. */
  readonly digest?: AwayDigest;
}

/** Counts of what happened during an absence. */
export interface AwayDigest {
  readonly decisions: number;
  /** Turns that ended as turns do. */
  readonly turns: number;
  readonly failedTurns: number;
  readonly files: number;
  /** Tools that failed. */
  readonly failures: number;
  /** What was spent, where the agent reports it. */
  readonly cost?: { readonly amount: number; readonly currency: string };
}

export interface RawItem extends Placed {
  readonly kind: "raw";
  readonly update: JsonObject;
}

export type TranscriptItem = MessageItem | ToolItem | TurnEndItem | SettledItem | MarkItem | RawItem;

export interface Transcript {
  readonly items: readonly TranscriptItem[];
  /** Entries of the last plan; undefined before the first. */
  readonly plan: readonly JsonObject[] | undefined;
  readonly commands: readonly JsonObject[];
  /** {currentModeId, availableModes}, as in a session's result. */
  readonly modes: JsonObject | undefined;
  readonly configOptions: readonly JsonObject[];
  /** Last usage_update, without its discriminator. */
  readonly usage: JsonObject | undefined;
  /** Patched by session_info_update: title, updatedAt, and what else comes. */
  readonly info: JsonObject;
  /** How interactions about a tool call ended, by toolCallId: they may come before the card does. */
  readonly settled: Readonly<Record<string, readonly SettledNotice[]>>;
  /** The last turn notice. */
  readonly turn: TurnNotice | undefined;
  /** Numbers items that have no event number. */
  readonly unnumbered: number;
}

/** One thing that happened in a session, as the reducer takes it. */
export type TranscriptInput =
  | { readonly kind: "event"; readonly method: string; readonly params: JsonObject; readonly stamp: Stamp | undefined }
  | { readonly kind: "echo"; readonly promptId: string; readonly blocks: readonly JsonObject[]; readonly ts: number }
  | {
      readonly kind: "mark";
      readonly mark: MarkItem["mark"];
      readonly reason: string;
      readonly ts: number;
      readonly after?: Cursor;
      readonly digest?: AwayDigest;
    }
  /** A session's result: modes, configOptions and what else it says of the current state (S5). */
  | { readonly kind: "state"; readonly result: JsonObject };

export const EMPTY_TRANSCRIPT: Transcript = {
  items: [],
  plan: undefined,
  commands: [],
  modes: undefined,
  configOptions: [],
  usage: undefined,
  info: {},
  settled: {},
  turn: undefined,
  unnumbered: 0,
};
