/**
 * What one connection is owed. There is no queue of updates: each subscription is a cursor into a session's feed and journal, so
 * joining, resuming and lagging are one function (`#pump`). Only private messages queue, and that queue is bounded.
 *
 * O1 Per session and connection there is one order: updates, interactions, responses and notices (B6).
 * O2 A full socket stops updates at once; the next bytes are written when it has drained (B5).
 * O3 Private messages of a session that is behind wait for their place; one that became pointless is taken back (`withdraw`).
 * O4 Over the hard bound the connection is hopeless: the owner is told once and closes it with a code that says resume. The one
 *    update that was written last does not count: it may be larger than the bound, and whoever resumes would meet it again.
 */
import type { ConnectionId } from "../../protocol/ids.ts";
import type { Audience } from "../audience.ts";
import type { Encoder, Feed, FeedReader, Segment } from "./feed.ts";

/** The socket as the outbox sees it. Calls never come back synchronously. */
export interface Sink<Encoded> {
  write(encoded: Encoded, bytes: number): void;
  /** Bytes written that the peer has not taken. */
  buffered(): number;
}

/** Where a subscription reads what the feed's tail no longer holds. */
export interface CatchUpSource {
  /** The last event of the session. */
  tail(): number;
  /** True while a page plan is under way: the feed's tail must not be mixed into it. */
  readonly isMidway: boolean;
  /** Up to here it is history the reader asked for: read from the source alone, which marks it and leaves nothing of it out. */
  readonly historyUpTo: number;
  /** Frames after `cursor` up to event `upTo`, at most about `maxBytes`; `last` is the cursor after them. */
  read(cursor: number, upTo: number, maxBytes: number): CatchUpPage;
  /** What to say when a reader that was live has to be caught up from the journal: updates after `cursor` come joined. */
  gapNotice(cursor: number, upTo: number): string | undefined;
}

export interface CatchUpPage {
  readonly texts: readonly string[];
  readonly last: number;
}

export interface OutboxLimits {
  /** Above this many unsent bytes updates wait. At least the socket's high-water mark, or it never drains. */
  readonly pauseBytes: number;
  /** Unsent bytes, without the update written last, plus queued private messages: over this the connection ends (O4). */
  readonly hardBytes: number;
}

interface PrivateMessage {
  readonly after: number;
  readonly text: string;
  readonly tag: string | undefined;
}

const PAGE_BYTES = 262_144;

export class Outbox<Encoded> {
  readonly id: ConnectionId;
  readonly #sink: Sink<Encoded>;
  readonly #encoder: Encoder<Encoded>;
  readonly #limits: OutboxLimits;
  readonly #onHopeless: () => void;
  readonly #subscriptions = new Map<Feed<Encoded>, Subscription<Encoded>>();
  #queuedBytes = 0;
  /** What updates were written last. They are written only while the socket is not full, so what was before them is nearly gone. */
  #updateBytes = 0;
  #isClosed = false;
  /** Which updates it may be sent. */
  audiences: ReadonlySet<Audience> = new Set(["all"]);
  /** Times a reader that had been live was served from the journal; of those, times it was told of joined updates. */
  catchUpCount = 0;
  gapCount = 0;

  constructor(
    id: ConnectionId,
    sink: Sink<Encoded>,
    encoder: Encoder<Encoded>,
    limits: OutboxLimits,
    onHopeless: () => void,
  ) {
    this.id = id;
    this.#sink = sink;
    this.#encoder = encoder;
    this.#limits = limits;
    this.#onHopeless = onHopeless;
  }

  get limits(): OutboxLimits {
    return this.#limits;
  }

  get isFull(): boolean {
    return this.#isClosed || this.#sink.buffered() > this.#limits.pauseBytes;
  }

  /** True while any session waits for the socket. */
  get isBehind(): boolean {
    for (const subscription of this.#subscriptions.values()) if (subscription.isBehind) return true;
    return false;
  }

  isSubscribed(feed: Feed<Encoded>): boolean {
    return this.#subscriptions.has(feed);
  }

  /** The last event of a session that has gone out; undefined when it is not read. */
  cursorOf(feed: Feed<Encoded>): number | undefined {
    return this.#subscriptions.get(feed)?.cursor;
  }

  /** Begins (or begins anew) to read a session after `cursor`. What was queued for it before is kept in front. */
  subscribe(feed: Feed<Encoded>, source: CatchUpSource, cursor: number): void {
    const queued = this.#subscriptions.get(feed)?.end() ?? [];
    const subscription = new Subscription(this, feed, source, cursor);
    this.#subscriptions.set(feed, subscription);
    feed.readers.add(subscription);
    for (const message of queued) subscription.enqueue({ ...message, after: cursor });
    subscription.pump();
  }

  unsubscribe(feed: Feed<Encoded>): void {
    const subscription = this.#subscriptions.get(feed);
    if (subscription === undefined) return;
    this.#subscriptions.delete(feed);
    // What the client is owed (responses) goes out; nothing more follows for this session.
    for (const message of subscription.end()) this.#write(message.text);
  }

  /** Sends a private message, in its place behind the session's updates so far (B6). `tag` names it for `withdraw`. */
  send(text: string, feed?: Feed<Encoded>, tag?: string): void {
    if (this.#isClosed) return;
    const subscription = feed === undefined ? undefined : this.#subscriptions.get(feed);
    if (subscription === undefined) this.#write(text);
    else subscription.send(text, tag);
    this.#checkBound();
  }

  /** Takes back a private message that has not gone out. False when it has. */
  withdraw(tag: string): boolean {
    for (const subscription of this.#subscriptions.values()) if (subscription.withdraw(tag)) return true;
    return false;
  }

  /** The socket has drained: goes on where it stopped. */
  onDrain(): void {
    for (const subscription of this.#subscriptions.values()) subscription.pump();
  }

  close(): void {
    this.#isClosed = true;
    for (const subscription of this.#subscriptions.values()) subscription.end();
    this.#subscriptions.clear();
  }

  /** For subscriptions: counts a message that waits. */
  addQueued(bytes: number): void {
    this.#queuedBytes += bytes;
  }

  /** For subscriptions: a live reader is served from the journal. */
  onCatchUp(isGap: boolean): void {
    this.catchUpCount += 1;
    if (isGap) this.gapCount += 1;
  }

  /** For subscriptions: writes shared bytes. */
  writeSegment(segment: Segment<Encoded>): void {
    this.#writeUpdates(segment);
  }

  /** For subscriptions: what stands in place of a segment that is not for this connection, if anything does. */
  writeOtherwise({ otherwise }: Segment<Encoded>): void {
    if (otherwise !== undefined) this.#writeUpdates(otherwise);
  }

  /** For subscriptions: writes a page of the journal. */
  writePage(texts: readonly string[]): void {
    if (texts.length > 0) this.#writeUpdates(this.#encoder.encode(texts));
  }

  /** For subscriptions: writes texts of this connection alone. */
  writeTexts(texts: readonly string[]): void {
    if (this.#isClosed || texts.length === 0) return;
    const { encoded, bytes } = this.#encoder.encode(texts);
    this.#sink.write(encoded, bytes);
  }

  #write(text: string): void {
    this.writeTexts([text]);
  }

  #writeUpdates({ encoded, bytes }: { readonly encoded: Encoded; readonly bytes: number }): void {
    if (this.#isClosed) return;
    this.#updateBytes = bytes;
    this.#sink.write(encoded, bytes);
  }

  #checkBound(): void {
    if (this.#isClosed) return;
    const unread = Math.max(0, this.#sink.buffered() - this.#updateBytes);
    if (unread + this.#queuedBytes > this.#limits.hardBytes) {
      this.#isClosed = true;
      this.#onHopeless();
    }
  }
}

class Subscription<Encoded> implements FeedReader<Encoded> {
  readonly #outbox: Outbox<Encoded>;
  readonly #feed: Feed<Encoded>;
  readonly #source: CatchUpSource;
  #cursor: number;
  #privates: PrivateMessage[] = [];
  /** True once the reader has been at the head: from then on, joined updates are announced as a gap. */
  #wasLive = false;
  isBehind = true;

  constructor(outbox: Outbox<Encoded>, feed: Feed<Encoded>, source: CatchUpSource, cursor: number) {
    this.#outbox = outbox;
    this.#feed = feed;
    this.#source = source;
    this.#cursor = cursor;
  }

  get cursor(): number {
    return this.#cursor;
  }

  onSegment(segment: Segment<Encoded>): void {
    if (this.isBehind || segment.last <= this.#cursor) return;
    if (this.#outbox.isFull) this.isBehind = true;
    else this.#take(segment);
  }

  send(text: string, tag: string | undefined): void {
    this.#feed.flush();
    if (this.isBehind) this.enqueue({ after: this.#source.tail(), text, tag });
    else this.#outbox.writeTexts([text]);
  }

  enqueue(message: PrivateMessage): void {
    this.#privates.push(message);
    this.#outbox.addQueued(message.text.length);
  }

  withdraw(tag: string): boolean {
    const index = this.#privates.findIndex((message) => message.tag === tag);
    if (index < 0) return false;
    const [message] = this.#privates.splice(index, 1);
    this.#outbox.addQueued(-(message?.text.length ?? 0));
    return true;
  }

  /** Ends reading; gives back what was queued and not sent. */
  end(): PrivateMessage[] {
    this.#feed.readers.delete(this);
    const rest = this.#privates;
    this.#privates = [];
    for (const message of rest) this.#outbox.addQueued(-message.text.length);
    return rest;
  }

  /** O1, O2: brings the reader on as far as the socket takes it: updates up to the next private message, then that. */
  pump(): void {
    // Numbers still pending would otherwise be read from the journal and sent again with their segment (F1).
    this.#feed.flush();
    while (!this.#outbox.isFull) {
      const next = this.#privates[0];
      if (next !== undefined && next.after <= this.#cursor) {
        this.#privates.shift();
        this.#outbox.addQueued(-next.text.length);
        this.#outbox.writeTexts([next.text]);
        continue;
      }
      const target = next === undefined ? this.#source.tail() : next.after;
      if (this.#cursor >= target) {
        this.isBehind = false;
        this.#wasLive = true;
        return;
      }
      this.#advance(target);
    }
    this.isBehind = true;
  }

  #advance(until: number): void {
    const isHistory = this.#cursor < this.#source.historyUpTo;
    const target = isHistory ? Math.min(until, this.#source.historyUpTo) : until;
    const segment = isHistory || this.#source.isMidway ? undefined : this.#feed.segmentFrom(this.#cursor + 1);
    if (segment !== undefined && segment.first === this.#cursor + 1 && segment.last <= target) {
      this.#take(segment);
      return;
    }
    const isCatchUp = this.#wasLive && !this.#source.isMidway;
    const notice = isCatchUp ? this.#source.gapNotice(this.#cursor, target) : undefined;
    if (isCatchUp) this.#outbox.onCatchUp(notice !== undefined);
    this.#wasLive = false;
    if (notice !== undefined) this.#outbox.writeTexts([notice]);
    const page = this.#source.read(this.#cursor, target, PAGE_BYTES);
    // Joined items overlap in their numbers, so the cursor moves only when the whole stretch has been given.
    if (!this.#source.isMidway) this.#cursor = Math.max(page.last, this.#cursor + 1);
    this.#outbox.writePage(page.texts);
  }

  #take(segment: Segment<Encoded>): void {
    this.#cursor = segment.last;
    if (!this.#outbox.audiences.has(segment.audience)) return this.#outbox.writeOtherwise(segment);
    if (segment.except === this.#outbox.id && segment.except !== undefined) return;
    this.#outbox.writeSegment(segment);
  }
}
