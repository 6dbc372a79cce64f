/**
 * What the hub keeps on disk, as ports. Each has an adapter over SQLite (`sqlite/`) and a twin in memory (`memory/`);
 * `test/conformance/store.suite.ts` is what both pass.
 *
 * Everything is synchronous: an attach reads the journal and registers in one step, with nothing in between. A remote
 * log behind `JournalStore` keeps a local replica for that; appends and durability are asynchronous by contract already.
 * Times are epoch milliseconds, sizes bytes.
 *
 * Faults: reads and `DeviceStore` throw `StoreError`. Writes of the other stores never throw: they answer false and the
 * fault goes to `onError`, so that a full disk stops nobody's session.
 */
import type { DeviceRecord } from "../protocol/devices.ts";
import type { DeviceId, Epoch, InteractionId, PromptId, SessionId } from "../protocol/ids.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { SessionKey } from "./session-key.ts";

/** Events first..last of an epoch as one message. `pieces`: the text lengths the run was joined from, one per event. */
export interface JournalItem {
  readonly first: number;
  readonly last: number;
  readonly pieces?: readonly number[];
  readonly message: JsonObject;
}

export interface EpochInfo {
  readonly epoch: Epoch;
  /** First event still held; tail + 1 when all are gone. */
  readonly head: number;
  /** Last event taken, durable or not; 0 when there was none. */
  readonly tail: number;
  /** Cursors from here on are served exactly (S3): what is older was coalesced, trimmed or lost. */
  readonly exactAfter: number;
  /** False when events are missing, at the front or inside. Coalesced ones are not. */
  readonly isWhole: boolean;
  readonly bytes: number;
}

export interface JournalPage {
  /** In order. An item that contains a bound is whole: cut it by its pieces. */
  readonly items: readonly JournalItem[];
  /** True when the limit ended the page. */
  readonly hasMore: boolean;
}

export interface JournalRange {
  /** Items with events after this one; 0 for all. */
  readonly after: number;
  /** Last event wanted; absent for all. */
  readonly upTo?: number;
  /** The page ends with the item that passes this many bytes. At least one item is given. */
  readonly limitBytes?: number;
}

/** Makes fewer, smaller items of a stretch that has to shrink. They cover it in order. */
export type Coalesce = (items: readonly JournalItem[]) => readonly JournalItem[];

/** How text of one message is joined before it is written. Only items with `pieces` are asked about. */
export interface JoinRule {
  /** The text the pieces are lengths of; undefined when the item cannot be joined. */
  textOf(item: JournalItem): string | undefined;
  isSameMessage(earlier: JsonObject, later: JsonObject): boolean;
  /** The message of `earlier` up to `later`, with all the text. */
  joined(earlier: JsonObject, later: JsonObject, text: string): JsonObject;
}

/** Events up to `last` are on disk. */
export interface DurableMark {
  readonly key: SessionKey;
  readonly epoch: Epoch;
  readonly last: number;
}

export interface JournalStore {
  /**
   * Takes items that follow the tail; ones it already has are ignored, so a repeated stretch is harmless. Readable at
   * once, on disk within 40 ms (`onDurable`). An item that overlaps the tail is reported "out-of-order" and left out.
   */
  append(key: SessionKey, epoch: Epoch, items: readonly JournalItem[]): void;
  /** Commits what waits. False when it still waits: the fault went to `onError` and it is tried again. */
  flush(): boolean;
  read(key: SessionKey, epoch: Epoch, range: JournalRange): JournalPage;
  /** The items before event `before`, the nearest ones that fit, in order. */
  readBack(key: SessionKey, epoch: Epoch, before: number, limitBytes: number): JournalPage;
  epoch(key: SessionKey, epoch: Epoch): EpochInfo | undefined;
  /** In the order they began. */
  epochs(key: SessionKey): readonly EpochInfo[];
  /** Shrinks the session to `maxBytes`, oldest first: coalesced where that helps, else removed. Gives the bytes that went. */
  trim(key: SessionKey, maxBytes: number, coalesce?: Coalesce): number;
  /** Forgets the session's events, also those that wait. */
  remove(key: SessionKey): boolean;
}

export type SessionState = "idle" | "running" | "waiting" | "closed";

export interface SessionRecord {
  readonly key: SessionKey;
  readonly sessionId: SessionId;
  /** Profile or command and the agent's own name, as S9 tells agents apart. */
  readonly agent: string;
  readonly cwd: string;
  readonly title?: string;
  /** Oldest first. */
  readonly epochs: readonly Epoch[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly state: SessionState;
  readonly closedAt?: number;
  /** False until its first prompt: known by id, not shown (S2). */
  readonly isListed: boolean;
  /** The hub's own notes on the session, e.g. its last result fields (S5). */
  readonly extra: JsonObject;
}

export interface SessionQuery {
  /** Words that all have to occur in one passage: a message, short ones next to each other, or the title. The last may be cut. */
  readonly text?: string;
  /** A directory: its own sessions and those below it. */
  readonly workspace?: string;
  readonly state?: SessionState | "live";
  /** From the page before; one that is not ours starts over. */
  readonly cursor?: string;
  /** At most 200; 50 when absent. */
  readonly limit?: number;
}

/** Where the words were found. `marks` are [start, end) offsets in `text`. */
export interface Snippet {
  readonly text: string;
  readonly marks: readonly (readonly [number, number])[];
  /** Absent when the session's title was the match. */
  readonly epoch?: Epoch;
  readonly seq?: number;
}

export interface SessionHit {
  readonly session: SessionRecord;
  readonly snippet?: Snippet;
}

export interface SessionPage {
  /** Newest first; by the newest match when words were given. Only listed sessions. */
  readonly hits: readonly SessionHit[];
  readonly nextCursor?: string;
}

export interface WorkspaceInfo {
  readonly cwd: string;
  readonly sessionCount: number;
  readonly updatedAt: number;
}

export interface RetentionPolicy {
  readonly now: number;
  readonly maxAgeMs?: number;
  /** All journals together. */
  readonly maxBytes?: number;
  /** Sessions that stay whatever their age: the live ones. */
  isKept(key: SessionKey): boolean;
}

export interface SessionStore {
  upsert(record: SessionRecord): boolean;
  get(key: SessionKey): SessionRecord | undefined;
  /** Several agents and directories may have a session of this id (S9). Newest first. */
  findById(sessionId: SessionId): readonly SessionRecord[];
  list(query: SessionQuery): SessionPage;
  /** Directories of listed sessions, the one used last first. */
  workspaces(): readonly WorkspaceInfo[];
  /** A hub that starts has no live session yet: what the last one left open is closed. */
  closeAll(at: number): boolean;
  /** Removes the session with everything that hangs on it: journal, index, prompts, interactions. */
  remove(key: SessionKey): boolean;
  /** Removes sessions past their age, then the oldest until all fit. Gives those it removed. */
  prune(policy: RetentionPolicy): readonly SessionKey[];
}

export type PromptState = "waiting" | "running" | "done";

export interface PromptRecord {
  readonly deviceId: DeviceId;
  readonly sessionKey: SessionKey;
  readonly promptId: PromptId;
  /** A hash of the content: the same id with other content is refused (P3). */
  readonly contentHash: string;
  readonly state: PromptState;
  readonly stopReason?: string;
  readonly error?: { readonly code: number; readonly message: string };
  readonly at: number;
}

export interface PromptStore {
  /** Replaces the record of its device, session and prompt id. Keeps the newest 256 of the session. */
  put(record: PromptRecord): boolean;
  get(deviceId: DeviceId, sessionKey: SessionKey, promptId: PromptId): PromptRecord | undefined;
  /** Forgets outcomes older than `PROMPT_KEPT_MS`. Gives how many. */
  prune(now: number): number;
}

/** How an interaction ended (X13). `answer` is already without free text: see `core/interaction/redact-answer.ts`. */
export interface SettledRecord {
  readonly action: string;
  readonly answer?: JsonObject;
  readonly deviceId?: DeviceId;
  readonly connectionId?: string;
  readonly name?: string;
  readonly at: number;
}

export interface InteractionRecord {
  readonly interactionId: InteractionId;
  readonly sessionKey?: SessionKey;
  readonly instanceId: string;
  readonly method: string;
  /** The request as asked. */
  readonly request: JsonObject;
  readonly openedAt: number;
  readonly settled?: SettledRecord;
}

export interface InteractionStore {
  /** Recording one again changes nothing: it is offered anew after each re-dial. */
  open(record: InteractionRecord): boolean;
  /** The first settling stands; a second one, or one of an unknown interaction, changes nothing and answers false. */
  settle(interactionId: InteractionId, settled: SettledRecord): boolean;
  get(interactionId: InteractionId): InteractionRecord | undefined;
  /** Oldest first. */
  listOpen(): readonly InteractionRecord[];
  /** Of one session, newest first, at most `limit`. */
  history(sessionKey: SessionKey, limit: number): readonly InteractionRecord[];
  /** Forgets those settled before `before`. Gives how many. */
  prune(before: number): number;
}

/** `id` is a hash, or the `jti` of a signed token. */
export interface CredentialRecord {
  readonly id: string;
  readonly deviceId: DeviceId;
  readonly kind: "refresh" | "browser" | "token" | "secret";
  /** The hash of what has to be shown besides: a browser's key, the current secret of a refresh credential. */
  readonly secretHash?: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
}

export interface SecretChange {
  readonly secretHash: string;
  readonly expiresAt: number;
}

/**
 * Devices and the hashes of what they hold. Every method throws `StoreError`: a credential nobody recorded must not be given out.
 * What is written outlives a power cut from when the method returns, but for visits and the pruning of what has ended.
 */
export interface DeviceStore {
  putDevice(record: DeviceRecord): void;
  getDevice(deviceId: DeviceId): DeviceRecord | undefined;
  /** In the order they were made. */
  listDevices(): readonly DeviceRecord[];
  /** Notes a visit; unknown devices are ignored. */
  seen(deviceId: DeviceId, at: number, address: string): void;
  putCredential(record: CredentialRecord): void;
  getCredential(id: string): CredentialRecord | undefined;
  listCredentials(deviceId: DeviceId): readonly CredentialRecord[];
  /** Puts a new secret's hash in the place of `from`; false when another one stands there: of two that try, one wins. */
  replaceSecret(id: string, from: string, to: SecretChange): boolean;
  deleteCredentials(deviceId: DeviceId): void;
  /** Forgets credentials that expired before `now`. Gives how many. */
  pruneCredentials(now: number): number;
}

export interface AuditActor {
  readonly deviceId: string;
  /** The socket it came by, where there was one (X13). */
  readonly connectionId?: string;
  readonly name: string;
  readonly address?: string;
}

export interface AuditEntry {
  readonly at: number;
  readonly actor: AuditActor;
  /** A constant, e.g. `device.revoke`. */
  readonly action: string;
  readonly target?: string;
  /** Never secrets, never prompt text. */
  readonly detail?: JsonObject;
}

export interface AuditRecord extends AuditEntry {
  readonly id: number;
}

/** What may go of the audit, as of `at`: entries older than `before`, and the oldest beyond `countMax`. */
export interface AuditRetention {
  readonly at: number;
  readonly before?: number;
  readonly countMax: number;
}

/** Append-only: there is no way to change an entry or to take one out of the middle, and the database refuses it. */
export interface AuditStore {
  append(entry: AuditEntry): boolean;
  /** Removes from the beginning what is due, and leaves an entry `audit.prune` that says what went. Gives how many. */
  prune(retention: AuditRetention): number;
  /** The newest `limit`, oldest first. */
  tail(limit: number): readonly AuditRecord[];
  /** Entries with an id after `after`, oldest first. */
  read(after: number, limit: number): readonly AuditRecord[];
}

export interface Store {
  readonly journal: JournalStore;
  readonly sessions: SessionStore;
  readonly prompts: PromptStore;
  readonly interactions: InteractionStore;
  readonly devices: DeviceStore;
  readonly audit: AuditStore;
  /** Commits what waits, ends all timers and releases the file. Safe to call twice. */
  close(): void;
}
