/** Stored history for a client that loads a session: the tail it asked for, pages before it, and the state beside it. */
import { ACP } from "../../../protocol/acp.ts";
import { hubError, invalidParams, RPC } from "../../../protocol/errors.ts";
import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../../protocol/json.ts";
import { AcpFailure } from "../acp/link.ts";
import { pause } from "../clock.ts";
import type { Host } from "../host.ts";
import { TIMING } from "../timing.ts";
import type { Update } from "../translate/event.ts";
import { readMessages, textOf, toolsOf, type ZMessage } from "../translate/messages.ts";
import { planEntries, planUpdate } from "../translate/plan.ts";
import { decodeCursor, encodeCursor, type Page, pageBefore, replayMessage, turnCount } from "../translate/replay.ts";
import { usageOfProjection } from "../translate/usage.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { availableConfig } from "./opened.ts";
import type { Session } from "./session.ts";

const LIMIT_MAX = 500;
const PAGE_DEFAULT = 50;
/** Read beyond what was asked, so that a page can reach back to the start of its turn. */
const SLACK = 40;

interface Window {
  readonly messages: readonly ZMessage[];
  /** Everything the session has was read. */
  readonly isWhole: boolean;
}

export class History {
  readonly #host: Host;
  readonly #lifecycle: Lifecycle;

  constructor(host: Host, lifecycle: Lifecycle) {
    this.#host = host;
    this.#lifecycle = lifecycle;
  }

  /** Replays to the one who loads, then gives the result of the load. Live updates wait and follow, each once. */
  async load(session: Session, alias: string, limit: number | undefined): Promise<JsonObject> {
    await this.#lifecycle.ensureLive(session);
    session.hold();
    let covered: ReadonlySet<string> = new Set();
    try {
      const wanted = limit === undefined ? undefined : Math.min(Math.max(0, Math.floor(limit)), LIMIT_MAX);
      const [window, snapshot] = await Promise.all([
        wanted === 0 ? { messages: [], isWhole: false } : this.#settledTail(session, wanted),
        this.#lifecycle.call(session, "session/read", { messageLimit: 1 }),
      ]);
      this.#lifecycle.takeSettings(session, snapshot);
      const end = window.messages.length;
      const page =
        wanted === undefined
          ? { start: 0, end, turns: turnCount(window.messages) }
          : pageBefore(window.messages, end, wanted);
      const isRunning = isTurnActive(session, snapshot);
      covered = this.#replay(session, alias, window, page, isRunning);
      this.#replayState(session, alias, snapshot);
      return { ...availableConfig(session), ...replayMeta(window, page, snapshot, isRunning) };
    } finally {
      session.release(alias, (update) => isCovered(update, covered));
    }
  }

  /** One page strictly older than a cursor. */
  async loadEarlier(session: Session, alias: string, params: JsonObject): Promise<JsonObject> {
    const before = stringAt(params, "before") ?? stringAt(params, "cursor");
    const cursor = before === undefined ? undefined : decodeCursor(before);
    if (cursor === undefined) throw new AcpFailure(invalidParams("before", "must be a cursor of an earlier load"));
    const limit = Math.min(Math.max(1, numberAt(params, "limit") ?? PAGE_DEFAULT), LIMIT_MAX);
    await this.#lifecycle.ensureLive(session);
    session.hold();
    try {
      let count = cursor.fromEnd + limit + SLACK;
      for (;;) {
        const window = await this.#read(session, count);
        if (session.needsSettle) {
          await this.#settle(session, count);
          continue;
        }
        const end = window.messages.findIndex((message) => message.id === cursor.id);
        const page = end === -1 ? undefined : pageBefore(window.messages, end, limit);
        const isCut = page === undefined || (page.start === 0 && !window.isWhole);
        if (isCut && !window.isWhole) {
          count *= 2;
          continue;
        }
        if (page === undefined)
          throw new AcpFailure(hubError(RPC.invalidParams, "cursor-expired", "cursor expired: load the session again"));
        this.#replay(session, alias, window, page, false);
        return replayMeta(window, page, {}, isTurnActive(session, {}));
      }
    } finally {
      session.release(alias);
    }
  }

  /** A session found evicted is resumed by the very read: then that read saw a history that was still growing in. */
  async #settledTail(session: Session, limit: number | undefined): Promise<Window> {
    for (;;) {
      await this.#settle(session, limit);
      const window = await this.#tail(session, limit);
      if (!session.needsSettle) return window;
    }
  }

  /** After a resume the history grows in by and by: it is complete when two reads agree. */
  async #settle(session: Session, limit: number | undefined): Promise<void> {
    if (!session.needsSettle) return;
    session.settling ??= this.#settled(session, limit).finally(() => {
      session.settling = undefined;
    });
    await session.settling;
  }

  async #settled(session: Session, limit: number | undefined): Promise<void> {
    const mark = (window: Window): string => `${window.messages.length}/${window.messages.at(-1)?.id ?? ""}`;
    let last = mark(await this.#tail(session, limit));
    for (let attempt = 0; attempt < TIMING.settleTries; attempt++) {
      await pause(this.#host.clock, TIMING.settleStepMs);
      const next = mark(await this.#tail(session, limit));
      if (next === last) break;
      last = next;
    }
    session.needsSettle = false;
  }

  /** The last messages, enough of them that the tail starts at the beginning of a turn. */
  async #tail(session: Session, limit: number | undefined): Promise<Window> {
    if (limit === undefined) return this.#read(session, undefined);
    for (let count = limit + SLACK; ; count *= 2) {
      const window = await this.#read(session, count);
      if (window.isWhole || pageBefore(window.messages, window.messages.length, limit).start > 0) return window;
    }
  }

  async #read(session: Session, count: number | undefined): Promise<Window> {
    const params = count === undefined ? {} : { limit: count };
    const result = await this.#lifecycle.call(session, "session/messages", params, { timeoutMs: 30_000 });
    const raw = arrayAt(result, "messages") ?? [];
    return { messages: readMessages(raw), isWhole: count === undefined || raw.length < count };
  }

  /** Sends the page. The answer names the messages that live updates must not repeat. */
  #replay(session: Session, alias: string, window: Window, page: Page, isRunning: boolean): ReadonlySet<string> {
    const covered = new Set<string>();
    const lastTurn = isRunning ? lastPrompt(window.messages) : window.messages.length;
    window.messages.slice(page.start, page.end).forEach((message, at) => {
      const isOver = page.start + at < lastTurn;
      const stored = replayMessage(message, page.start + at, isOver);
      const updates = stored.map((update) => runningTask(session, update) ?? update);
      this.#send(alias, isOver ? updates : liveUpdates(session, message, updates, covered));
    });
    if (isRunning) this.#sendUnstored(session, alias, window.messages, covered);
    return covered;
  }

  /** What is streaming now and not in the store yet. */
  #sendUnstored(session: Session, alias: string, messages: readonly ZMessage[], covered: Set<string>): void {
    const { active } = session.turns;
    if (active === undefined || active.isDead) return;
    const stored = new Set(messages.flatMap(toolsOf).map((tool) => tool.callId));
    const id = active.text.lastMessageId;
    const streamed = id === undefined || covered.has(id) ? undefined : session.delivered.text.get(id)?.kept;
    const isStored = messages.some((message) => message.id === id);
    if (id !== undefined && !isStored && streamed !== undefined && streamed !== "") {
      covered.add(id);
      const { title } = session;
      this.#send(alias, [
        ...(title === undefined ? [] : [{ sessionUpdate: "session_info_update", title }]),
        { sessionUpdate: "agent_message_chunk", content: { type: "text", text: streamed }, messageId: id },
      ]);
    }
    const open = session.cards.openOf(active.key).filter((card) => !stored.has(card.id));
    this.#send(
      alias,
      open.map((card) => session.cards.current(card)),
    );
  }

  #replayState(session: Session, alias: string, snapshot: JsonObject): void {
    const plan = planEntries(snapshot);
    const usage = usageOfProjection(objectAt(snapshot, "projection"), session.contextWindow);
    const { title } = session;
    this.#send(alias, [
      ...(title === undefined ? [] : [{ sessionUpdate: "session_info_update", title }]),
      ...(plan === undefined || plan.length === 0 ? [] : [planUpdate(plan)]),
      ...(usage === undefined ? [] : [usage]),
    ]);
  }

  #send(alias: string, updates: readonly Update[]): void {
    for (const update of updates) this.#host.link.notify(ACP.sessionUpdate, { sessionId: alias, update });
  }
}

function isTurnActive(session: Session, snapshot: JsonObject): boolean {
  const status = stringAt(objectAt(snapshot, "projection"), "status");
  return (
    session.turns.active !== undefined || session.run !== undefined || status === "running" || status === "waiting"
  );
}

function lastPrompt(messages: readonly ZMessage[]): number {
  const at = messages.findLastIndex((message) => message.role === "user");
  return at === -1 ? 0 : at;
}

/**
 * A stored message of the running turn: of its text just what was streamed, whatever the store has of it, so that the
 * live chunks go on exactly where the replay ends.
 */
function liveUpdates(session: Session, message: ZMessage, updates: readonly Update[], covered: Set<string>): Update[] {
  const { id } = message;
  const live = id === undefined ? undefined : session.delivered.text.get(id);
  if (id === undefined || live === undefined) return [...updates];
  covered.add(id);
  const full = textOf(message);
  const shown = live.remainder(full) === undefined ? (live.kept ?? full) : full.slice(0, live.length);
  const others = updates.filter((update) => update["sessionUpdate"] !== "agent_message_chunk");
  if (shown === "") return others;
  return [...others, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: shown }, messageId: id }];
}

/** The launch of a background command is stored as over; its card goes on. */
function runningTask(session: Session, update: Update): Update | undefined {
  const card = session.cards.get(stringAt(update, "toolCallId") ?? "");
  return card?.isBackground === true && !session.cards.isFinal(card.id) ? session.cards.current(card) : undefined;
}

const isCovered = (update: Update, covered: ReadonlySet<string>): boolean =>
  update["sessionUpdate"] === "agent_message_chunk" && covered.has(stringAt(update, "messageId") ?? "");

function replayMeta(window: Window, page: Page, snapshot: JsonObject, isRunning: boolean): JsonObject {
  const { messages, isWhole } = window;
  const first = messages[page.start];
  const lastMessageId = messages.at(-1)?.id;
  const known = numberAt(objectAt(snapshot, "projection"), "turnCount");
  const hasMore = page.start > 0 || !isWhole;
  const cursor =
    first?.id === undefined || !hasMore
      ? undefined
      : encodeCursor({ id: first.id, fromEnd: messages.length - page.start });
  const meta: JsonObject = {
    hasMore,
    replayedMessages: page.end - page.start,
    replayedTurns: page.turns,
    // Only a whole read counts; of a tail it says how many there are at least.
    totalMessages: messages.length,
    totalTurns: isWhole ? turnCount(messages) : (known ?? turnCount(messages)),
    turnActive: isRunning,
    ...(isWhole ? {} : { totalIsAtLeast: true }),
    ...(cursor === undefined ? {} : { cursor }),
    ...(lastMessageId === undefined ? {} : { lastMessageId }),
  };
  return { replayMeta: meta, _meta: { zcode: { replayMeta: meta } } };
}
