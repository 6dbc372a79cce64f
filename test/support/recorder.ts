/** Handlers that keep what arrives, and promises for "it has arrived": tests wait for facts, never for time. */
import type { Frame, RpcFailure } from "../../src/protocol/envelope.ts";
import type { CloseInfo, Transport, TransportHandlers } from "../../src/transport/transport.ts";

export class Recorder implements TransportHandlers {
  readonly texts: string[] = [];
  readonly frames: Frame[] = [];
  readonly junk: { refusal: RpcFailure; bytes: number }[] = [];
  readonly closes: CloseInfo[] = [];
  drains = 0;
  readonly #waiters = new Set<() => void>();

  /** A recorder that has started `transport`. */
  static on(transport: Transport): Recorder {
    const recorder = new Recorder();
    transport.start(recorder);
    return recorder;
  }

  onFrame(frame: Frame): void {
    this.texts.push(frame.text);
    this.frames.push(frame);
    this.#check();
  }

  onJunk(refusal: RpcFailure, bytes: number): void {
    this.junk.push({ refusal, bytes });
    this.#check();
  }

  onClose(info: CloseInfo): void {
    this.closes.push(info);
    this.#check();
  }

  onDrain(): void {
    this.drains += 1;
    this.#check();
  }

  /** Resolves once `condition` holds; looked at after every event. The test's own timeout bounds it. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter = () => {
        if (!condition()) return;
        this.#waiters.delete(waiter);
        resolve();
      };
      this.#waiters.add(waiter);
    });
  }

  untilFrames(count: number): Promise<void> {
    return this.until(() => this.texts.length >= count);
  }

  untilClosed(): Promise<void> {
    return this.until(() => this.closes.length > 0);
  }

  #check(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }
}
