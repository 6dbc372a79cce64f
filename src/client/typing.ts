/** Who else writes in a session, and telling that this device does. A sign fades by itself: whoever gave it may be gone. */
import { HUB } from "../protocol/hub-methods.ts";
import { type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { Observable } from "./emitter.ts";
import type { Clock } from "./ports.ts";

/** Somebody who writes a message. */
export interface Typist {
  readonly connectionId: string;
  readonly name: string;
}

/** While somebody writes, the sign is given again this often. */
const AGAIN_MS = 3000;

/** A sign that was not given again for so long is over. */
const FADE_MS = 7000;

export interface TypingPort {
  readonly clock: Clock;
  notify(method: string, params: JsonObject): boolean;
}

export class Typing {
  readonly typists: Observable<readonly Typist[]> = new Observable<readonly Typist[]>([]);
  readonly #sessionId: string;
  readonly #port: TypingPort;
  readonly #fading = new Map<string, () => void>();
  #toldAt: number | undefined;

  constructor(sessionId: string, port: TypingPort) {
    this.#sessionId = sessionId;
    this.#port = port;
  }

  /** The message being written has changed; `isTyping` is false when nothing is left of it. */
  tell(isTyping: boolean): void {
    const now = this.#port.clock.now();
    const isTold = this.#toldAt !== undefined;
    if (isTyping ? isTold && now - (this.#toldAt ?? 0) < AGAIN_MS : !isTold) return;
    this.#toldAt = isTyping ? now : undefined;
    this.#port.notify(HUB.typing, { sessionId: this.#sessionId, typing: isTyping });
  }

  /** A sign of somebody else. */
  receive(params: JsonObject): void {
    const by = objectAt(params, "by");
    const connectionId = stringAt(by, "connectionId");
    if (connectionId === undefined) return;
    this.#drop(connectionId);
    if (params["typing"] !== true) return;
    this.typists.set([...this.typists.value, { connectionId, name: stringAt(by, "name") ?? "Somebody" }]);
    this.#fading.set(
      connectionId,
      this.#port.clock.after(FADE_MS, () => this.#drop(connectionId)),
    );
  }

  /** Who is not among these has left. */
  keep(connectionIds: ReadonlySet<string>): void {
    for (const { connectionId } of this.typists.value) if (!connectionIds.has(connectionId)) this.#drop(connectionId);
  }

  #drop(connectionId: string): void {
    this.#fading.get(connectionId)?.();
    this.#fading.delete(connectionId);
    if (!this.typists.value.some((typist) => typist.connectionId === connectionId)) return;
    this.typists.set(this.typists.value.filter((typist) => typist.connectionId !== connectionId));
  }
}
