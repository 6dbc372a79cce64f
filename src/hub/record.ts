/**
 * What one instance's mirror leaves on disk: its sessions, their events, their interactions (part of every hub restart, L2). The
 * live path never waits for it: writes are batched by the store, and its faults are logged there.
 */

import type { AnswerBody } from "../core/interaction/answer.ts";
import { isSameMessage } from "../core/journal/coalesce.ts";
import type { HistoryItem } from "../core/journal/history-page.ts";
import type { JournalItem, TextRun } from "../core/journal/item.ts";
import type { LastLine } from "../core/journal/last-line.ts";
import type { OpenAskView } from "../core/mirror/ask.ts";
import type { KeyedPrompt, MirrorRecord, RestoredJournal } from "../core/mirror/ports.ts";
import { hubError, RPC } from "../protocol/errors.ts";
import { HUB, type SettledNotice } from "../protocol/hub-methods.ts";
import { deviceId, epoch, interactionId, promptId, sessionId } from "../protocol/ids.ts";
import { type JsonObject, numberAt, objectAt, stringAt } from "../protocol/json.ts";
import type { LinkHello, LinkSession } from "../protocol/link.ts";
import { fromStored, toStored } from "../store/core-items.ts";
import type { PromptRecord, SessionRecord, Store } from "../store/ports.ts";
import { type SessionKey, sessionKey } from "../store/session-key.ts";
import { isSameLine, lineNote, lineOf, withLine } from "./line-note.ts";
import { continuedIn, epochsUpTo, itemsAfter } from "./record-items.ts";

const PAGE_BYTES = 8_388_608;

/** Text of this tick that may still grow; `loose` is what does not stand in the item yet. */
interface PendingText {
  readonly info: LinkSession;
  readonly item: JournalItem & { readonly run: TextRun };
  readonly loose: string[];
  looseChars: number;
}

export class InstanceRecord implements MirrorRecord {
  readonly #store: Store;
  readonly #instanceId: string;
  readonly #agent: string;
  /** Keys by session id: looked up for every event. */
  readonly #keys = new Map<string, SessionKey>();
  readonly #byKey = new Map<SessionKey, string>();
  /** The turn of each session whose start was audited last, while it runs: its further notices are not starts. */
  readonly #audited = new Map<SessionKey, string>();
  #pending: PendingText | undefined;

  constructor(store: Store, hello: LinkHello) {
    this.#store = store;
    this.#instanceId = hello.instanceId;
    this.#agent = hello.agent ?? hello.name;
  }

  /** Sessions that are live here: retention leaves them alone. */
  liveKeys(): Iterable<SessionKey> {
    return this.#keys.values();
  }

  /** The live session of a key; undefined when it is not one of this instance's. */
  sessionOf(key: SessionKey): string | undefined {
    return this.#byKey.get(key);
  }

  /** What is on disk of the sessions a bridge names, for its welcome: it continues from there. */
  acked(hello: LinkHello): Record<string, { epoch: string; seq: number }> {
    const acked: Record<string, { epoch: string; seq: number }> = Object.create(null);
    for (const live of hello.sessions ?? []) {
      const info = this.#store.journal.epoch(this.#key(live.sessionId, live.cwd), epoch(live.epoch));
      if (info !== undefined) acked[live.sessionId] = { epoch: live.epoch, seq: info.tail };
    }
    return acked;
  }

  restore(info: LinkSession): RestoredJournal | undefined {
    const key = this.#keyOf(info);
    const kept = this.#store.journal.epoch(key, epoch(info.epoch));
    if (kept === undefined) return undefined;
    const items: JournalItem[] = [];
    let after = 0;
    for (;;) {
      const page = this.#store.journal.read(key, epoch(info.epoch), { after, limitBytes: PAGE_BYTES });
      items.push(...page.items.map(fromStored));
      const last = page.items.at(-1);
      if (!page.hasMore || last === undefined) break;
      after = last.last;
    }
    return { items, tail: kept.tail, exactAfter: kept.exactAfter, isWhole: kept.isWhole };
  }

  onSession(info: LinkSession): void {
    this.#writePending();
    const key = this.#keyOf(info);
    const known = this.#store.sessions.get(key);
    const epochs = known?.epochs ?? [];
    const current = epoch(info.epoch);
    const record: SessionRecord = {
      key,
      sessionId: sessionId(info.sessionId),
      agent: this.#agent,
      cwd: info.cwd,
      epochs: epochs.includes(current) ? epochs : [...epochs, current],
      createdAt: known?.createdAt ?? info.updatedAt,
      updatedAt: Math.max(known?.updatedAt ?? 0, info.updatedAt),
      state: info.turn,
      isListed: info.listed || known?.isListed === true,
      extra: {
        ...lineNote(lineOf(known)),
        instanceId: this.#instanceId,
        state: info.state,
        continued: continuedWith(known, info),
      },
      ...(info.title !== undefined && { title: info.title }),
    };
    this.#store.sessions.upsert(record);
  }

  onEvent(info: LinkSession, item: JournalItem): void {
    const pending = this.#pending;
    if (pending?.info.sessionId === info.sessionId && pending.info.epoch === info.epoch && continues(pending, item)) {
      pending.loose.push(item.run.text);
      pending.looseChars += item.run.text.length;
      for (const length of item.run.pieces) pending.item.run.pieces.push(length);
      pending.item.last = item.last;
      pending.item.ts = item.ts;
      return;
    }
    this.#writePending();
    if (item.run === undefined) this.#write(info, item);
    else {
      // Text of one tick is one item for the store, too: what is merged here it need not take apart and join again.
      const kept = { ...item, run: { ...item.run, pieces: [...item.run.pieces] } };
      this.#pending = { info, item: kept, loose: [], looseChars: 0 };
      setImmediate(() => this.#writePending());
    }
    if (item.method === HUB.turn) this.#onTurnEvent(this.#keyOf(info), item.params, item.ts);
  }

  /** A turn begins and ends by its events alone: the session is not described anew for it. */
  onStanding(info: LinkSession, at: number, line: LastLine | undefined): void {
    const known = this.#store.sessions.get(this.#keyOf(info));
    if (known === undefined || (known.state === info.turn && isSameLine(lineOf(known), line))) return;
    const updatedAt = Math.max(known.updatedAt, at);
    this.#store.sessions.upsert({ ...withLine(known, line), state: info.turn, updatedAt });
  }

  lastLine(info: LinkSession): LastLine | undefined {
    return lineOf(this.#store.sessions.get(this.#keyOf(info)));
  }

  #writePending(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending === undefined) return;
    pending.item.run.text += pending.loose.join("");
    this.#write(pending.info, pending.item);
  }

  #write(info: LinkSession, item: JournalItem): void {
    this.#store.journal.append(this.#keyOf(info), epoch(info.epoch), [toStored(item)]);
  }

  onSessionGone(info: LinkSession, line: LastLine | undefined): void {
    this.#writePending();
    const known = this.#store.sessions.get(this.#keyOf(info));
    if (known !== undefined)
      this.#store.sessions.upsert({ ...withLine(known, line), state: "closed", closedAt: Date.now() });
    this.#byKey.delete(this.#keyOf(info));
    this.#audited.delete(this.#keyOf(info));
    this.#keys.delete(info.sessionId);
  }

  hasOlder(info: LinkSession): boolean {
    const epochs = this.#store.sessions.get(this.#keyOf(info))?.epochs ?? [];
    return epochs.indexOf(epoch(info.epoch)) > 0;
  }

  older(info: LinkSession): readonly HistoryItem[] {
    const record = this.#store.sessions.get(this.#keyOf(info));
    if (record === undefined) return [];
    const epochs = epochsUpTo(this.#store, record, epoch(info.epoch)).slice(0, -1);
    return epochs.flatMap((name) => itemsAfter(this.#store, record, name, 0));
  }

  onInteraction(view: OpenAskView): void {
    const key = view.sessionId === undefined ? undefined : this.#keys.get(view.sessionId);
    this.#store.interactions.open({
      interactionId: view.interactionId,
      instanceId: this.#instanceId,
      method: view.method,
      request: view.params,
      openedAt: view.openedAt,
      ...(key !== undefined && { sessionKey: key }),
    });
  }

  /** X13: what was decided, by whom, when. Free text is not among it. */
  onSettled(notice: SettledNotice): void {
    const { by, outcome, at } = notice;
    this.#store.interactions.settle(interactionId(notice.interactionId), {
      action: outcome.action,
      answer: { ...outcome },
      deviceId: deviceId(by.device),
      connectionId: by.connectionId,
      name: by.name,
      at,
    });
    this.#store.audit.append({
      at: at || Date.now(),
      actor: { deviceId: by.device, connectionId: by.connectionId, name: by.name },
      action: `interaction.${outcome.action}`,
      target: notice.interactionId,
      detail: { ...outcome, ...(notice.sessionId !== undefined && { sessionId: notice.sessionId }) },
    });
  }

  beforePrompt(info: LinkSession, prompt: KeyedPrompt): AnswerBody | undefined {
    const key = this.#keyOf(info);
    const id = promptId(prompt.promptId);
    const device = deviceId(prompt.device);
    const kept = this.#store.prompts.get(device, key, id);
    const mark = promptMark(this.#instanceId, prompt.fingerprint);
    // Of this instance: its root remembers, and judges.
    if (kept !== undefined && kept.contentHash !== mark) {
      if (fingerprintOf(kept.contentHash) !== prompt.fingerprint) return promptMismatch(prompt.promptId);
      return kept.state === "done" ? outcomeOf(kept) : outcomeUnknown(prompt.promptId);
    }
    if (kept === undefined) {
      const record = {
        deviceId: device,
        sessionKey: key,
        promptId: id,
        contentHash: mark,
        state: "waiting",
        at: Date.now(),
      } as const;
      this.#store.prompts.put(record);
    }
    return undefined;
  }

  /** Who prompted, and how it ended: the start and the end of each turn (P3, X13). */
  #onTurnEvent(key: SessionKey, params: JsonObject, at: number): void {
    const by = objectAt(params, "by");
    const device = stringAt(by, "device");
    const id = stringAt(params, "promptId");
    if (device === undefined) return;
    const stopReason = stringAt(params, "stopReason");
    const error = objectAt(params, "error");
    const isEnd = stopReason !== undefined || error !== undefined;
    const turn = `${device} ${id ?? ""}`;
    if (params["state"] === "idle" || (isEnd && this.#audited.get(key) === turn)) this.#audited.delete(key);
    if (!isEnd && params["state"] === "running" && this.#audited.get(key) !== turn) {
      this.#audited.set(key, turn);
      const connection = stringAt(by, "connectionId");
      const actor = {
        deviceId: device,
        ...(connection !== undefined && { connectionId: connection }),
        name: stringAt(by, "name") ?? "",
      };
      this.#store.audit.append({ at, actor, action: "session.prompt", target: stringAt(params, "sessionId") ?? "" });
    }
    if (id === undefined) return;
    const kept = this.#store.prompts.get(deviceId(device), key, promptId(id));
    if (kept === undefined) return;
    this.#store.prompts.put({
      ...kept,
      state: isEnd ? "done" : "running",
      at,
      ...(stopReason !== undefined && { stopReason }),
      ...(error !== undefined && {
        error: { code: numberAt(error, "code") ?? 0, message: stringAt(error, "message") ?? "" },
      }),
    });
  }

  #keyOf(info: LinkSession): SessionKey {
    return this.#keys.get(info.sessionId) ?? this.#key(info.sessionId, info.cwd);
  }

  #key(id: string, cwd: string): SessionKey {
    const key = sessionKey({ agent: this.#agent, cwd, sessionId: id });
    this.#keys.set(id, key);
    this.#byKey.set(key, id);
    return key;
  }
}

/** True when `item` is the next piece of the same text. Runs that have given their pieces up stay as they are. */
function continues(
  { item: previous, looseChars }: PendingText,
  item: JournalItem,
): item is JournalItem & { readonly run: TextRun } {
  if (item.run === undefined || item.run.pieces.length === 0 || previous.last + 1 !== item.first) return false;
  return isSameMessage(previous, item, looseChars) && previous.run.pieces.length > 0;
}

/** The epochs that go on from the one before, this one among them if it does. */
function continuedWith(known: SessionRecord | undefined, info: LinkSession): string[] {
  const before = continuedIn(known);
  return info.continues === true && !before.includes(info.epoch) ? [...before, info.epoch] : [...before];
}

/** Which instance took a prompt, and what it said: one maker, one parser. */
const promptMark = (instanceId: string, print: string): string => `${instanceId} ${print}`;
const fingerprintOf = (mark: string): string => mark.slice(mark.lastIndexOf(" ") + 1);

function outcomeOf(kept: PromptRecord): AnswerBody {
  if (kept.error !== undefined) return { error: kept.error };
  return { result: { stopReason: kept.stopReason ?? "end_turn" } };
}

const outcomeUnknown = (id: string): AnswerBody => ({
  error: hubError(
    RPC.internalError,
    "outcome-unknown",
    "The instance that took this prompt is gone: it may or may not have run",
    { promptId: id },
  ),
});

const promptMismatch = (id: string): AnswerBody => ({
  error: hubError(RPC.invalidParams, "prompt-mismatch", "This promptId was used for another prompt", { promptId: id }),
});
