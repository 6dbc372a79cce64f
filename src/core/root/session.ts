/** One live session as the root knows it. Data; the modules beside this one act on it. */

import type { TurnState } from "../../protocol/hub-methods.ts";
import type { Epoch, InteractionId, SessionId } from "../../protocol/ids.ts";
import { arrayAt, type JsonObject, stringAt } from "../../protocol/json.ts";
import type { LinkSession } from "../../protocol/link.ts";
import type { By } from "../../protocol/meta.ts";
import { Feed } from "../fanout/feed.ts";
import type { UrlOwner } from "../interaction/url-owner.ts";
import { Journal } from "../journal/journal.ts";
import { SessionState } from "../session-state.ts";
import { Lane, type Outcomes, type Prompt } from "./lane.ts";
import type { SettledCard } from "./settled-cards.ts";

/** Lines of one tick, joined: what the link's socket takes. */
export const lineEncoder = {
  encode(texts: readonly string[]): { encoded: string; bytes: number } {
    const encoded = texts.join("\n");
    return { encoded, bytes: encoded.length };
  },
};

export interface SessionSeed {
  readonly id: SessionId;
  readonly epoch: Epoch;
  readonly openedBy: "primary" | "remote";
  readonly params: JsonObject;
  readonly workspace: string;
  readonly journalBytes: number;
  /** How far the hub has been sent it; undefined while there is no hub. */
  linkCursor(session: RootSession): number | undefined;
  readonly tailBytes: number | undefined;
  readonly lanePromptsMax: () => number;
  /** How prompts ended that ran here before it was closed and opened again (P3). */
  readonly outcomes: Outcomes;
  /** False when the agent knows history that this journal will not hold. */
  readonly isWhole: boolean;
  readonly now: number;
}

export class RootSession {
  readonly id: SessionId;
  readonly epoch: Epoch;
  /** Who made it known here first. */
  openedBy: "primary" | "remote";
  cwd: string;
  roots: readonly string[];
  /** The agent spoke of it before any client did: a sub-agent's, or one from before. */
  isImplicit = false;
  /** The agent replayed nothing into it: the record of before goes on in it (S1). */
  continues = false;
  /** Last event of the replay it began with: history, to whoever copies the journal (B2). */
  baselineTail = 0;
  readonly journal: Journal;
  readonly feed: Feed<string>;
  readonly state: SessionState = new SessionState();
  readonly lane: Lane;
  readonly openAsks: Set<InteractionId> = new Set();
  /** Prompts in flight when the turn was cancelled; until all have their response, the turn is dying (X7). */
  readonly dying: Set<Prompt> = new Set();
  /** The agent sent content since the last turn ended: a cancel may still mean something (X7). */
  hasContentSinceTurn = false;
  /** Kinds of turn the backend runs by itself: goal, background (B4). */
  readonly backendTurns: Set<string> = new Set();
  /** Tasks that outlived their turn and still run, as the backend says: no turn, but nothing to end an instance under (L6). */
  backendTasks = 0;
  backendQueue: readonly { id: string; title: string }[] = [];
  /** Text of the running prompt that an agent's own echo may still repeat (B3). */
  pendingEcho = "";
  /** Its blocks that are not text, written out. */
  pendingBlocks: string[] = [];
  /** Cards whose interaction was settled in this turn; the agent has said nothing of them since (X11). */
  readonly unsettledCards: Map<string, SettledCard> = new Map();
  /** Whose prompt ran last, or who opened it: whom addresses to open are shown to (X12). Undefined where no client did. */
  author: UrlOwner | undefined;
  isListed: boolean;
  /** Loaded or made by the primary and not closed by it. */
  hasPrimary: boolean;
  /** Remote connections attached, as the mirror says. */
  remoteCount = 0;
  /** The editor was last told that others are here. */
  hasCompany = false;
  /** While the agent replays history into it; nobody else may see it yet. */
  isLoading = false;
  updatedAt: number;
  lastTurnState: TurnState = "idle";
  turnBy: By | undefined;
  turnPromptId: string | undefined;
  fallbackTitle: string | undefined;
  reason: string | undefined;

  constructor(seed: SessionSeed) {
    this.id = seed.id;
    this.epoch = seed.epoch;
    this.openedBy = seed.openedBy;
    this.cwd = seed.workspace;
    this.roots = [this.cwd];
    this.#place(seed.params);
    this.journal = new Journal(seed.epoch, seed.journalBytes, seed.isWhole, () => seed.linkCursor(this));
    this.feed = new Feed(lineEncoder, seed.tailBytes);
    this.lane = new Lane(seed.lanePromptsMax, seed.outcomes);
    this.isListed = seed.openedBy === "remote";
    this.hasPrimary = seed.openedBy === "primary";
    this.updatedAt = seed.now;
  }

  /** A client's call turns out to be behind a session the agent spoke of first. */
  introduce(openedBy: "primary" | "remote", params: JsonObject): void {
    if (!this.isImplicit) return;
    this.isImplicit = false;
    this.openedBy = openedBy;
    this.isListed ||= openedBy === "remote";
    this.#place(params);
  }

  #place(params: JsonObject): void {
    this.cwd = stringAt(params, "cwd") ?? this.cwd;
    const extra = (arrayAt(params, "additionalDirectories") ?? []).filter((entry) => typeof entry === "string");
    this.roots = [this.cwd, ...extra];
  }

  /** The editor knows it: it serves the session's files, and alone it answers as without us (X3, S7). */
  get isPrimarys(): boolean {
    return this.hasPrimary || this.isImplicit;
  }

  get isDying(): boolean {
    return this.dying.size > 0;
  }

  get title(): string | undefined {
    return this.state.title ?? this.fallbackTitle;
  }

  /** B4: from prompts in flight and what the backend reports, never from updates flowing. */
  get turnState(): TurnState {
    if (!this.lane.isRunning && this.backendTurns.size === 0) return this.openAsks.size > 0 ? "waiting" : "idle";
    return this.openAsks.size > 0 ? "waiting" : "running";
  }

  describe(): LinkSession {
    return {
      sessionId: this.id,
      epoch: this.epoch,
      head: this.journal.exactAfter,
      tail: this.journal.tail,
      whole: this.journal.isWhole,
      cwd: this.cwd,
      roots: this.roots,
      updatedAt: this.updatedAt,
      openedBy: this.openedBy,
      listed: this.isListed,
      turn: this.turnState,
      queue: this.lane.entries(),
      state: this.state.result,
      ...(this.isLoading && { loading: true }),
      ...(this.continues && { continues: true }),
      ...(this.baselineTail > 0 && { baseline: this.baselineTail }),
      ...(this.title !== undefined && { title: this.title }),
      ...(this.turnBy !== undefined && { turnBy: this.turnBy }),
      ...(this.turnPromptId !== undefined && { promptId: this.turnPromptId }),
      primary: this.hasPrimary,
      ...(this.reason !== undefined && { reason: this.reason }),
    };
  }
}
