/**
 * One attached session: loads it by cursor, feeds the reducer, pages backwards.
 *
 * A1 From the load request to its answer everything numbered is held, then applied in one step: a screen never shows half
 *    a replay, and the verdict decides whether it goes on top of what is there or in its place.
 * A2 An attach belongs to one socket (generation); what an earlier one still delivers is dropped.
 */
import { ACP } from "../protocol/acp.ts";
import { HUB, type TurnNotice } from "../protocol/hub-methods.ts";
import type { SessionId } from "../protocol/ids.ts";
import { isObject, type Json, type JsonObject, numberAt, stringAt } from "../protocol/json.ts";
import { HUB_META, readStamp, type Stamp } from "../protocol/meta.ts";
import { AWAY_MS, awayDigest } from "./away.ts";
import { admit, type CursorGate, EMPTY_GATE, expectCatchUp, gateAt } from "./cursor-gate.ts";
import { Observable } from "./emitter.ts";
import { CallError, isLinkFailure } from "./errors.ts";
import { type EventInput, furthest, lossMarks, newOnes, withLoss } from "./loaded.ts";
import type { Clock } from "./ports.ts";
import type { CallOptions } from "./rpc.ts";
import {
  type AttachState,
  type Attendant,
  emptyView,
  type LoadOutcome,
  readAttendants,
  readLoadResult,
  type SavedSession,
  type SessionView,
} from "./session-view.ts";
import { changesBetween, type TranscriptChanges } from "./transcript/changes.ts";
import { hasLostFront } from "./transcript/draft.ts";
import { EMPTY_TRANSCRIPT, type Transcript, type TranscriptInput } from "./transcript/item.ts";
import { oldestSeq, prependPage } from "./transcript/page.ts";
import { reduceTranscript } from "./transcript/reduce.ts";
import { Typing, type Typist } from "./typing.ts";

/** What a session needs of the connection under it. */
export interface SessionPort {
  readonly clock: Clock;
  /** The hub's own time, as far as it is known. */
  hubNow(): number;
  call(method: string, params: JsonObject, options?: CallOptions): Promise<Json>;
  notify(method: string, params: JsonObject): boolean;
}

export interface SessionOptions {
  /** Which instance, where one session id may live on several. */
  readonly instance?: string;
  /** The working directory, for a session the hub has to load from the agent. */
  readonly cwd?: string;
  /** Items of the first replay and of a page. */
  readonly pageSize?: number;
}

const PAGE_SIZE = 200;

/** Of the first replay: what a screen shows at once. The rest comes as pages. */
const FIRST_PAGE_SIZE = 40;

/** Held events of one load. The hub sends pages, so more than this is a fault of the peer: load anew without a cursor. */
const HELD_MAX = 50_000;

export class SessionClient {
  readonly sessionId: SessionId;
  readonly view: Observable<SessionView>;
  readonly #port: SessionPort;
  readonly #options: SessionOptions;
  readonly #typing: Typing;
  #gate: CursorGate = EMPTY_GATE;
  #held: EventInput[] | undefined;
  #page: EventInput[] | undefined;
  #generation = 0;
  /** Where the hub said the next page ends; undefined: before the oldest item shown. */
  #earlierBefore: number | undefined;

  constructor(sessionId: SessionId, port: SessionPort, options: SessionOptions = {}) {
    this.sessionId = sessionId;
    this.#port = port;
    this.#options = options;
    this.view = new Observable(emptyView(sessionId));
    this.#typing = new Typing(sessionId, port);
  }

  /** Shows what the device kept. Before the first attach only. */
  restore(saved: SavedSession): void {
    this.#gate = gateAt(saved.cursor);
    this.#patch({
      transcript: saved.transcript,
      cursor: saved.cursor,
      hasEarlier: saved.hasEarlier,
      heardAt: saved.savedAt,
    });
  }

  save(): SavedSession {
    const { transcript, cursor, hasEarlier, heardAt } = this.view.value;
    return { version: 1, transcript, cursor, hasEarlier, savedAt: heardAt ?? this.#port.clock.now() };
  }

  /** Loads the session on the present socket; by cursor when there is one. Failures show in the view, none is thrown. */
  async attach(): Promise<void> {
    const generation = ++this.#generation;
    const { cursor } = this.#gate;
    this.#held = [];
    this.#endPage();
    this.#patch({ attach: { kind: "attaching", received: 0 } });
    const hub: JsonObject = {
      history: "full",
      limit: this.#options.pageSize ?? FIRST_PAGE_SIZE,
      ...(cursor !== undefined && { cursor: { epoch: cursor.epoch, seq: cursor.seq } }),
      ...(this.#options.instance !== undefined && { instance: this.#options.instance }),
    };
    const params: JsonObject = { sessionId: this.sessionId, mcpServers: [], _meta: { [HUB_META]: hub } };
    if (this.#options.cwd !== undefined) params["cwd"] = this.#options.cwd;
    try {
      const answer = await this.#port.call(ACP.sessionLoad, params);
      if (generation === this.#generation) this.#finishLoad(readLoadResult(answer));
    } catch (error) {
      if (generation === this.#generation) this.#failLoad(error);
    }
  }

  /** Adopts a session that `session/new` just made on this connection. */
  adopt(answer: Json): void {
    this.#generation += 1;
    this.#held ??= [];
    this.#finishLoad(readLoadResult(answer));
  }

  /** The socket went: keep everything, wait for the next `attach`. */
  detached(): void {
    this.#generation += 1;
    this.#held = undefined;
    this.#endPage();
    if (this.view.value.attach.kind !== "ended") this.#patch({ attach: { kind: "detached" }, isCatchingUp: false });
  }

  /** Starts over without a cursor. */
  async resync(): Promise<void> {
    this.#gate = EMPTY_GATE;
    await this.attach();
  }

  /** What a person asks for with "reload": says what was missing. Undefined when the hub did not give it. */
  async reload(): Promise<TranscriptChanges | undefined> {
    const before = this.view.value.transcript;
    await this.resync();
    const { attach, transcript } = this.view.value;
    return attach.kind === "live" ? changesBetween(before, transcript) : undefined;
  }

  /** Takes one notification that names this session. */
  receive(method: string, params: JsonObject): void {
    switch (method) {
      case ACP.sessionUpdate:
      case HUB.turn:
      case HUB.interactionSettled:
        this.#receiveEvent({ kind: "event", method, params, stamp: readStamp(params) });
        break;
      case HUB.presence:
        this.#attended(readAttendants(params));
        break;
      case HUB.typing:
        this.#typing.receive(params);
        break;
      case HUB.gap:
        this.#expectCatchUp(params);
        break;
      case HUB.reset:
        void this.resync();
        break;
      case HUB.detached:
        // It was another instance's copy that ended: this one is read (S9).
        if (isElsewhere(params, this.#options.instance)) break;
        this.#patch({ attach: { kind: "ended", reason: stringAt(params, "reason") ?? "closed" } });
        break;
      default:
    }
  }

  /** Shows our own prompt: the hub sends an author no echo (B3). */
  echo(promptId: string, blocks: readonly JsonObject[]): void {
    this.#apply([{ kind: "echo", promptId, blocks, ts: this.#port.hubNow() }]);
  }

  /** Loads the page before the oldest item shown. Resolves when it is in, or at once when there is none. */
  async loadEarlier(): Promise<void> {
    const { transcript, hasEarlier, isLoadingEarlier, attach } = this.view.value;
    const before = this.#earlierBefore ?? oldestSeq(transcript);
    if (!hasEarlier || isLoadingEarlier || attach.kind !== "live" || before === undefined) return;
    const generation = this.#generation;
    this.#page = [];
    this.#patch({ isLoadingEarlier: true });
    try {
      const limit = this.#options.pageSize ?? PAGE_SIZE;
      const answer = await this.#port.call(HUB.loadEarlier, { sessionId: this.sessionId, before, limit });
      if (generation !== this.#generation) return;
      // What stood there was let go of meanwhile: between the page and what is shown now something is missing.
      if (hasLostFront(transcript, this.view.value.transcript)) this.#endPage();
      else this.#finishPage(answer);
    } catch {
      // The button stays; the person tries again.
      if (generation === this.#generation) this.#endPage();
    }
  }

  cancel(): boolean {
    return this.#port.notify(ACP.sessionCancel, { sessionId: this.sessionId });
  }

  /** Who else writes a message here. */
  get typists(): Observable<readonly Typist[]> {
    return this.#typing.typists;
  }

  /** The draft has changed: the others are told that it is written, once there are any. An editor shows no such thing. */
  drafted(isEmpty: boolean): void {
    const others = this.view.value.attendants.filter((attendant) => !attendant.isPrimary).length - 1;
    if (others > 0) this.#typing.tell(!isEmpty);
  }

  #attended(attendants: readonly Attendant[]): void {
    this.#patch({ attendants });
    this.#typing.keep(new Set(attendants.map((attendant) => attendant.connectionId)));
  }

  async setMode(modeId: string): Promise<void> {
    await this.#port.call(ACP.sessionSetMode, { sessionId: this.sessionId, modeId });
    this.#apply([changedBySelf({ sessionUpdate: "current_mode_update", currentModeId: modeId })]);
  }

  async setConfigOption(configId: string, value: string | boolean): Promise<void> {
    const typed: JsonObject = typeof value === "boolean" ? { type: "boolean", value } : { value };
    const answer = await this.#port.call(ACP.sessionSetConfigOption, { sessionId: this.sessionId, configId, ...typed });
    if (isObject(answer)) this.#apply([{ kind: "state", result: answer }]);
  }

  async removeQueued(promptId: string): Promise<void> {
    await this.#port.call(HUB.queueRemove, { sessionId: this.sessionId, promptId });
  }

  /** Moves a waiting prompt to `index`, counted from 0 at the head. */
  async moveQueued(promptId: string, index: number): Promise<void> {
    await this.#port.call(HUB.queueMove, { sessionId: this.sessionId, promptId, index });
  }

  #receiveEvent(input: EventInput): void {
    const { stamp } = input;
    if (stamp?.page === true) {
      this.#page?.push(input);
      return;
    }
    if (this.#held !== undefined) this.#hold(input);
    else if (stamp === undefined) this.#apply([input]);
    else this.#receiveNumbered(input, stamp);
  }

  #receiveNumbered(input: EventInput, stamp: Stamp): void {
    const { gate, admission } = admit(this.#gate, stamp);
    this.#gate = gate;
    if (admission === "new") this.#apply([input]);
    else if (admission !== "known") void this.resync();
  }

  #hold(input: EventInput): void {
    const held = this.#held ?? [];
    held.push(input);
    if (held.length > HELD_MAX) {
      void this.resync();
      return;
    }
    if (held.length % 100 === 0) this.#patch({ attach: { kind: "attaching", received: held.length } });
  }

  #finishLoad(outcome: LoadOutcome): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    const base = this.#gate;
    const isContinued = outcome.verdict === "ok" && base.cursor !== undefined;
    if (!isContinued) this.#earlierBefore = outcome.before;
    const { transcript } = this.view.value;
    const start = isContinued ? transcript : { ...EMPTY_TRANSCRIPT, unnumbered: transcript.unnumbered };
    const news = newOnes(held, isContinued ? base.floor : 0, outcome.cursor?.seq);
    const now = this.#port.clock.now();
    const isFirst = transcript.items.length === 0;
    const marks = isContinued ? this.#awayMarks(news, now) : isFirst ? [] : lossMarks(outcome, base.cursor, now);
    const inputs: TranscriptInput[] = [...marks, ...news, { kind: "state", result: outcome.result }];
    this.#gate = gateAt(furthest(outcome, news) ?? (isContinued ? base.cursor : undefined));
    const read = reduceTranscript(start, inputs);
    const reduced = isContinued ? read : withLoss(transcript, read, outcome, base.cursor);
    const hadEarlier = isContinued ? this.view.value.hasEarlier : (outcome.hasMore ?? false);
    this.#patch({
      attach: { kind: "live" },
      transcript: outcome.turn === undefined ? reduced : { ...reduced, turn: outcome.turn },
      hasEarlier: this.#hasLetGo(start, reduced) || hadEarlier,
      isReadOnly: outcome.isReadOnly,
      isCatchingUp: false,
      heardAt: now,
      ...(outcome.agent !== undefined && { agent: outcome.agent }),
    });
  }

  /** After a long absence what came meanwhile stands under a line of its own. */
  #awayMarks(news: readonly EventInput[], now: number): readonly TranscriptInput[] {
    const { heardAt } = this.view.value;
    const digest =
      heardAt === undefined || now - heardAt < AWAY_MS ? undefined : awayDigest(news, this.view.value.transcript.usage);
    return digest === undefined ? [] : [{ kind: "mark", mark: "away", reason: "", ts: now, digest }];
  }

  #failLoad(error: unknown): void {
    this.#held = undefined;
    const state: AttachState = isLinkFailure(error)
      ? { kind: "detached" }
      : {
          kind: "failed",
          message: error instanceof Error ? error.message : "The session could not be loaded",
          hubCode: error instanceof CallError ? error.hubCode : undefined,
        };
    this.#patch({ attach: state });
  }

  #finishPage(answer: Json): void {
    const page = this.#page ?? [];
    this.#page = undefined;
    const meta = isObject(answer) && isObject(answer["_meta"]) ? answer["_meta"][HUB_META] : undefined;
    const hasMore = isObject(answer)
      ? (answer["hasMore"] ?? (isObject(meta) ? meta["hasMore"] : undefined))
      : undefined;
    this.#earlierBefore = isObject(answer) ? numberAt(answer, "before") : undefined;
    this.#patch({
      transcript: prependPage(this.view.value.transcript, page),
      hasEarlier: typeof hasMore === "boolean" ? hasMore : page.length > 0,
      isLoadingEarlier: false,
    });
  }

  #endPage(): void {
    this.#page = undefined;
    if (this.view.value.isLoadingEarlier) this.#patch({ isLoadingEarlier: false });
  }

  #expectCatchUp(params: JsonObject): void {
    const from = numberAt(params, "from");
    const to = numberAt(params, "to");
    if (from === undefined || to === undefined || this.#held !== undefined) return;
    this.#gate = expectCatchUp(this.#gate, from, to);
    this.#patch({ isCatchingUp: true });
  }

  #apply(inputs: readonly TranscriptInput[]): void {
    const before = this.view.value.transcript;
    const transcript = reduceTranscript(before, inputs);
    this.#patch({
      transcript,
      isCatchingUp: this.#gate.catchUpTo !== undefined,
      heardAt: this.#port.clock.now(),
      ...(this.#hasLetGo(before, transcript) && { hasEarlier: true }),
    });
  }

  /** Whether something went at the front between these two: the next page ends there then. */
  #hasLetGo(before: Transcript, after: Transcript): boolean {
    const isFrontLost = hasLostFront(before, after);
    if (isFrontLost) this.#earlierBefore = undefined;
    return isFrontLost;
  }

  #patch(change: Partial<SessionView>): void {
    this.view.set({ ...this.view.value, ...change, cursor: this.#gate.cursor });
  }
}

function changedBySelf(update: JsonObject): TranscriptInput {
  return { kind: "event", method: ACP.sessionUpdate, params: { update }, stamp: undefined };
}

/** The turn as it is known: idle until a notice says otherwise (B4: never inferred from updates). */
export function turnOf(notice: TurnNotice | undefined, id: SessionId): TurnNotice {
  return notice ?? { sessionId: id, state: "idle", queue: [] };
}

/** The notice names an instance, and it is not the one this session is read on. */
function isElsewhere(params: JsonObject, own: string | undefined): boolean {
  const named = stringAt(params, "instance");
  return own !== undefined && named !== undefined && named !== own;
}
