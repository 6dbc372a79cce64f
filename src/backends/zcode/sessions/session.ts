/** One conversation: the ids clients know it by, what the backend calls it, and everything shown of it. */
import type { Json, JsonObject } from "../../../protocol/json.ts";
import { BackgroundTasks } from "../translate/background.ts";
import { entryOf, type Settings } from "../translate/config-options.ts";
import type { Update } from "../translate/event.ts";
import { LiveTexts } from "../translate/live-text.ts";
import { planSignature, planUpdate } from "../translate/plan.ts";
import type { Delivered } from "../translate/stream.ts";
import { ToolCards } from "../translate/tool-cards.ts";
import type { PromptRun } from "../turns/run.ts";
import { TurnTable } from "../turns/turn-table.ts";
import { Compaction } from "./compaction.ts";
import { SeqWindow } from "./seq-window.ts";

export interface SessionInit {
  readonly cwd: string;
  readonly zcodeSid?: string | undefined;
  readonly mcpServers?: readonly Json[] | undefined;
  readonly settings: Settings;
  /** Made by session/new in this process, so its title is ours to set. */
  readonly isBornHere: boolean;
}

interface HeldUpdate {
  readonly update: Update;
  /** The ids under which a replay had it already. */
  readonly shownTo: Set<string>;
}

export interface SessionPorts {
  /** Sends one update under one client id. */
  send(alias: string, update: Update): void;
  hasTerminal(): boolean;
  hex12(): string;
  now(): number;
  /** The client ended the turn by the way it answered a question. */
  cancelTurn(session: Session): void;
  /** A plan was approved: the mode follows within a second. */
  planApproved(session: Session): void;
}

/** What was chosen by the person and has to survive a resume. */
export interface Choice {
  model?: string;
  thought?: string;
}

const PATCHES_MAX = 500;
/** How long a question without a turn counts as one of the turn that was just cancelled. */
const DYING_MS = 30_000;

export class Session {
  readonly aliases: Set<string> = new Set();
  zcodeSid: string | undefined;
  cwd: string;
  mcpServers: readonly Json[] | undefined;
  settings: Settings;
  readonly choice: Choice = {};
  readonly isBornHere: boolean;
  title: string | undefined;
  /** A person named it: generated titles no longer count. */
  isTitlePinned = false;
  /** The backend generation in which it is resident and subscribed. */
  generation: number | undefined;
  /** Was live in a backend that is gone; the next one brings it back. */
  wasLive = false;
  /** Single flight: bringing it to life, creation included. */
  reviving: Promise<void> | undefined;

  readonly seqs: SeqWindow = new SeqWindow();
  readonly cards: ToolCards;
  readonly tasks: BackgroundTasks;
  /** How many of them the multiplexer knows to run. */
  tasksReported = 0;
  readonly delivered: Delivered = { text: new LiveTexts(), thought: new LiveTexts() };
  readonly patches: Set<string> = new Set();
  readonly turns: TurnTable = new TurnTable();
  slashCommands: readonly JsonObject[] = [];
  isSteerGone = false;

  /** Prompts that have no answer yet, oldest first; the last one is the one that runs or will. */
  readonly runs: Set<PromptRun> = new Set();
  /** The end of the last prompt's work: the next one starts there. */
  lane: Promise<void> = Promise.resolve();
  readonly compaction: Compaction = new Compaction();
  /** Inputs the backend holds for its running turn: id and title. */
  readonly queue: Map<string, string> = new Map();
  isClosed = false;
  /** This backend was seen to refuse a send while a turn runs, so a send cannot get lost in one. */
  rejectsMidTurn = false;
  /** Called when the backend says its lock is free. */
  readonly onLockFree: Set<() => void> = new Set();
  /** The folder came from the backend or from our own record, not from a client's guess. */
  isCwdTrusted: boolean;
  /** Resumed, and its history may still be growing in. */
  needsSettle = false;
  settling: Promise<void> | undefined;

  readonly #ports: SessionPorts;
  #held: HeldUpdate[] = [];
  /** Replays under way. */
  #holdCount = 0;
  #planShown = "__none__";
  #usageShown = "";

  constructor(init: SessionInit, ports: SessionPorts) {
    this.cwd = init.cwd;
    this.zcodeSid = init.zcodeSid;
    this.mcpServers = init.mcpServers;
    this.settings = init.settings;
    this.isBornHere = init.isBornHere;
    this.isCwdTrusted = init.isBornHere;
    this.#ports = ports;
    this.cards = new ToolCards(() => ports.hasTerminal());
    this.tasks = new BackgroundTasks(this.cards, () => ports.hex12());
  }

  /** The id clients first knew it by; undefined once every client closed it. */
  get mainAlias(): string | undefined {
    for (const alias of this.aliases) return alias;
    return undefined;
  }

  get contextWindow(): number | undefined {
    return entryOf(this.settings.models, this.settings.model)?.contextWindow;
  }

  /** The prompt whose turn runs, if any. */
  get run(): PromptRun | undefined {
    let last: PromptRun | undefined;
    for (const run of this.runs) if (!run.isOver) last = run;
    return last;
  }

  /** Sends updates under every id, or keeps them while a replay is under way. */
  emit(updates: readonly Update[]): void {
    if (this.#holdCount > 0) for (const update of updates) this.#held.push({ update, shownTo: new Set() });
    else for (const update of updates) for (const alias of this.aliases) this.#ports.send(alias, update);
  }

  /** True while the turn a question belongs to was cancelled and has not ended. */
  isDying(turnId: string | undefined): boolean {
    const { turns } = this;
    if (turnId !== undefined && turns.wasCancelled(turnId)) return true;
    const { dying } = turns;
    if (dying === undefined || dying.isEnded || this.run?.phase === "running") return false;
    if (turnId !== undefined) return dying.key === undefined || dying.key === turnId;
    return this.#ports.now() - dying.since < DYING_MS;
  }

  /** The key under which the cards of this turn are closed. */
  turnKey(turnId: string | undefined): string {
    if (turnId !== undefined && this.turns.get(turnId) !== undefined) return turnId;
    return this.turns.active?.key ?? "loose";
  }

  cancelTurn(turnId: string | undefined): void {
    if (turnId === undefined || turnId === this.run?.turn?.key) this.#ports.cancelTurn(this);
  }

  planApproved(): void {
    this.#ports.planApproved(this);
  }

  asksChanged(): void {
    const { run } = this;
    if (run !== undefined) run.lastEventAt = this.#ports.now();
  }

  /** From here on updates wait for `release`, so that history comes first. Each hold has one release. */
  hold(): void {
    this.#holdCount++;
  }

  /** The last one sends what waited. What the history showed already is not shown again to who got it, under this one id. */
  release(alias: string, isShown: (update: Update) => boolean = () => false): void {
    for (const { update, shownTo } of this.#held) if (isShown(update)) shownTo.add(alias);
    this.#holdCount--;
    if (this.#holdCount > 0) return;
    const held = this.#held;
    this.#held = [];
    for (const { update, shownTo } of held)
      for (const each of this.aliases) if (!shownTo.has(each)) this.#ports.send(each, update);
  }

  /** The plan update, when the plan is not the one shown last. */
  planChange(entries: readonly JsonObject[]): Update[] {
    const signature = planSignature(entries);
    if (signature === this.#planShown || (this.#planShown === "__none__" && entries.length === 0)) return [];
    this.#planShown = signature;
    return [planUpdate(entries)];
  }

  /** The usage update, when it says something new. */
  usageChange(update: Update | undefined): Update[] {
    if (update === undefined) return [];
    const signature = `${update["used"]}/${update["size"]}`;
    if (signature === this.#usageShown) return [];
    this.#usageShown = signature;
    return [update];
  }

  /** Bounded like everything that grows with a session. */
  trim(): void {
    for (const hash of this.patches) {
      if (this.patches.size <= PATCHES_MAX) return;
      this.patches.delete(hash);
    }
  }
}
