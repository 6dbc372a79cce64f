/**
 * One session's numbered frames on their way to many readers. Frames of one tick are encoded once and shared (B1, budgets §7).
 *
 * F1 Every reader gets frames in the order of their numbers; a frame is never sent twice on one connection.
 * F2 A reader that does not keep up holds nothing here: it has a cursor, and is caught up from the tail or the journal (B5).
 * F3 The tail is bounded in bytes; what falls out is served by the journal.
 */
import type { ConnectionId } from "../../protocol/ids.ts";
import type { Audience } from "../audience.ts";

export interface FeedFrame {
  readonly seq: number;
  /** First event covered, where several were joined. */
  readonly first?: number;
  readonly text: string;
  readonly audience: Audience;
  /** What readers outside the audience get in its place. */
  readonly otherwise?: string;
  /** The author of an echo, who rendered it already (B3). */
  readonly except?: ConnectionId;
}

/** A stretch of frames for one audience, encoded once for all its readers. */
export interface Segment<Encoded> {
  readonly first: number;
  readonly last: number;
  readonly audience: Audience;
  readonly except: ConnectionId | undefined;
  readonly encoded: Encoded;
  readonly bytes: number;
  readonly otherwise?: { readonly encoded: Encoded; readonly bytes: number };
}

/** Turns texts into what a socket takes, all of them in one piece. */
export interface Encoder<Encoded> {
  encode(texts: readonly string[]): { readonly encoded: Encoded; readonly bytes: number };
}

/** A reader of a feed: an outbox's subscription. */
export interface FeedReader<Encoded> {
  onSegment(segment: Segment<Encoded>): void;
}

export class Feed<Encoded> {
  readonly #encoder: Encoder<Encoded>;
  readonly #tailBytesMax: number;
  readonly readers: Set<FeedReader<Encoded>> = new Set();
  #pending: FeedFrame[] = [];
  #tail: Segment<Encoded>[] = [];
  #tailBytes = 0;

  constructor(encoder: Encoder<Encoded>, tailBytesMax = 1_048_576) {
    this.#encoder = encoder;
    this.#tailBytesMax = tailBytesMax;
  }

  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  /** Queues a frame for the next flush. The caller flushes at the end of its tick. */
  publish(frame: FeedFrame): void {
    this.#pending.push(frame);
  }

  /** Encodes what is pending and hands it to every reader. */
  flush(): void {
    if (this.#pending.length === 0) return;
    const pending = this.#pending;
    this.#pending = [];
    let start = 0;
    for (let i = 1; i <= pending.length; i += 1) {
      if (i < pending.length && isSameGroup(pending[start], pending[i])) continue;
      this.#emit(pending.slice(start, i));
      start = i;
    }
  }

  /** The kept segment that holds event `seq`, or undefined when the journal has to serve it. */
  segmentFrom(seq: number): Segment<Encoded> | undefined {
    let low = 0;
    let high = this.#tail.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const segment = this.#tail[middle];
      if (segment !== undefined && segment.last < seq) low = middle + 1;
      else high = middle;
    }
    const found = this.#tail[low];
    return found !== undefined && found.first <= seq ? found : undefined;
  }

  #emit(frames: readonly FeedFrame[]): void {
    const [head] = frames;
    const last = frames.at(-1);
    if (head === undefined || last === undefined) return;
    const { encoded, bytes } = this.#encoder.encode(frames.map((frame) => frame.text));
    const segment = {
      first: head.first ?? head.seq,
      last: last.seq,
      audience: head.audience,
      except: head.except,
      encoded,
      bytes,
      ...(head.otherwise !== undefined && { otherwise: this.#encoder.encode([head.otherwise]) }),
    };
    this.#keep(segment);
    for (const reader of this.readers) reader.onSegment(segment);
  }

  #keep(segment: Segment<Encoded>): void {
    this.#tail.push(segment);
    this.#tailBytes += segment.bytes;
    while (this.#tailBytes > this.#tailBytesMax && this.#tail.length > 1) {
      this.#tailBytes -= this.#tail.shift()?.bytes ?? 0;
    }
  }
}

function isSameGroup(a: FeedFrame | undefined, b: FeedFrame | undefined): boolean {
  const isShared = a?.except === undefined && a?.otherwise === undefined && b?.otherwise === undefined;
  return isShared && a?.audience === b?.audience && b?.except === undefined;
}
