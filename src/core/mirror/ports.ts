/** What a mirror needs of the world. No call comes back synchronously. */
import type { CloseCode } from "../../protocol/close-codes.ts";
import type { SettledNotice } from "../../protocol/hub-methods.ts";
import type { ConnectionId, InstanceId } from "../../protocol/ids.ts";
import type { LinkSession } from "../../protocol/link.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { HistoryItem } from "../journal/history-page.ts";
import type { JournalItem } from "../journal/item.ts";
import type { LastLine } from "../journal/last-line.ts";
import type { OpenAskView } from "./ask.ts";
import type { ClientRequest, Connection } from "./connection.ts";

export type MirrorObservation =
  | { readonly kind: "late-answer"; readonly connectionId: string }
  | { readonly kind: "abstained"; readonly connectionId: string; readonly interactionId: string }
  | { readonly kind: "notification-refused"; readonly connectionId: string; readonly method: string }
  | { readonly kind: "settled"; readonly notice: SettledNotice }
  | { readonly kind: "sessions-changed" }
  | { readonly kind: "interactions-changed" }
  | { readonly kind: "bad-link-message"; readonly method: string };

/** What an earlier hub kept of a session's epoch. */
export interface RestoredJournal {
  readonly items: readonly JournalItem[];
  readonly tail: number;
  readonly exactAfter: number;
  readonly isWhole: boolean;
}

/** What tells retries of one prompt from other prompts (P3). */
export interface KeyedPrompt {
  readonly device: string;
  readonly promptId: string;
  readonly fingerprint: string;
}

/** Where sessions and their events go to last. Absent: the hub forgets with its process. */
export interface MirrorRecord {
  /** What is held of exactly this epoch; undefined when nothing is. */
  restore(info: LinkSession): RestoredJournal | undefined;
  /** The session as described now: new, changed, or in a new epoch. */
  onSession(info: LinkSession): void;
  onEvent(info: LinkSession, item: JournalItem): void;
  /** How the session stood at `at`: its turn as `info` says, `line` the last one in it. Told when the turn changes and the link goes. */
  onStanding(info: LinkSession, at: number, line: LastLine | undefined): void;
  onSessionGone(info: LinkSession, line: LastLine | undefined): void;
  /** The last line that was kept of it, by whatever instance. */
  lastLine(info: LinkSession): LastLine | undefined;
  /**
   * A prompt with an id is about to go up. Its answer, when the record knows better than the root: the same prompt ran, or may have
   * run, in an instance that is gone (P3).
   */
  beforePrompt(info: LinkSession, prompt: KeyedPrompt): AnswerBody | undefined;
  /** Offered by the root; the same one may come again after a re-dial. */
  onInteraction(interaction: OpenAskView): void;
  /** There were epochs of this session before. */
  hasOlder(info: LinkSession): boolean;
  /** What is kept of the epochs that go on in this one, oldest first. */
  older(info: LinkSession): readonly HistoryItem[];
}

/** Sessions no instance can load any more, from the record (S1 d). */
export interface MirrorHistory<Encoded> {
  holds(sessionId: string): boolean;
  /** A load, a resume, or a page of older events: replays and answers; false when there is nothing of that session. */
  serve(connection: Connection<Encoded>, request: ClientRequest): boolean;
}

export interface MirrorPorts {
  readonly record?: MirrorRecord | undefined;
  /** One message to the bridge. Never called while the link is down. */
  toLink(text: string): void;
  startTimer(name: string, ms: number): void;
  cancelTimer(name: string): void;
  /** Asks for one `flush()` at the end of this tick. */
  requestFlush(): void;
  /** The connection is to be closed, with a code that says what to do next. */
  close(connection: ConnectionId, code: CloseCode): void;
  observe(observation: MirrorObservation): void;
}

export interface MirrorOptions {
  readonly instanceId: InstanceId;
  readonly hubVersion: string;
  readonly journalBytes: number;
  /** Encoded updates kept per session for clients that lag a little, in bytes; 1 MiB when not given. */
  readonly tailBytes?: number;
  /** A connection that attached nothing this long after its initialize watches everything (B1). */
  readonly watchAfterMs: number;
  /** How long a client waits for an agent that is not initialized yet (I2). */
  readonly initializeMs: number;
  /** How often the hub pings: clients are told, and may take longer silence for a dead connection (L4). */
  readonly pingMs: number;
  /** Pause before open interactions are asked anew of a client that has just loaded (X6). */
  readonly askAfterLoadMs: number;
}
