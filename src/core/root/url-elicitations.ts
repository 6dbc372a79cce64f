/**
 * Whose url elicitations are (X12): the device whose prompt ran last in the session, or that opened it; once one was accepted, the
 * device that did. Bounded: the oldest are forgotten.
 */
import { type JsonObject, stringAt } from "../../protocol/json.ts";
import { PRIMARY } from "../../protocol/meta.ts";
import { isFor, MACHINES_OWNER, type UrlOwner } from "../interaction/url-owner.ts";
import type { RootContext } from "./context.ts";
import type { RootSession } from "./session.ts";

const KEPT_MAX = 256;

interface Known {
  /** The editor was asked: it is told of the completion. */
  readonly primaryGot: boolean;
  /** The device that accepted. */
  readonly pinned: string | undefined;
}

export class UrlElicitations {
  readonly #context: RootContext;
  readonly #known = new Map<string, Known>();

  constructor(context: RootContext) {
    this.#context = context;
  }

  /** Undefined when nobody can be shown it safely. */
  ownerOf(params: JsonObject, session: RootSession | undefined): UrlOwner | undefined {
    const pinned = this.#of(params)?.pinned;
    if (pinned !== undefined) return { device: pinned, isMachines: false };
    return session?.author ?? this.#runningAuthor();
  }

  /** It was offered, or not, to the editor. */
  noteOffer(params: JsonObject, isToPrimary: boolean): void {
    const known = this.#of(params);
    this.#put(params, { pinned: known?.pinned, primaryGot: isToPrimary || known?.primaryGot === true });
  }

  /** The first accept: what follows under this id is for that device alone. */
  pin(params: JsonObject, device: string): void {
    this.#put(params, { primaryGot: false, ...this.#of(params), pinned: device });
  }

  /** Completions go to those who got the question; one that nobody remembers, to all. */
  isForPrimary(params: JsonObject | undefined): boolean {
    return (params === undefined ? undefined : this.#of(params))?.primaryGot !== false;
  }

  isPrimarys(owner: UrlOwner): boolean {
    return isFor(owner, { device: PRIMARY, isOwner: true });
  }

  /** A session no client is known for (a sub-agent's): whoever has the agent work now, if that is one. */
  #runningAuthor(): UrlOwner | undefined {
    const authors = new Map<string, UrlOwner>();
    for (const { author, turnState } of this.#context.sessions.values()) {
      if (author === undefined || turnState === "idle") continue;
      authors.set(author.isMachines ? PRIMARY : author.device, author);
    }
    const [only, another] = authors.values();
    return another === undefined ? (only ?? MACHINES_OWNER) : undefined;
  }

  #of(params: JsonObject): Known | undefined {
    const id = stringAt(params, "elicitationId");
    return id === undefined ? undefined : this.#known.get(id);
  }

  #put(params: JsonObject, known: Known): void {
    const id = stringAt(params, "elicitationId");
    if (id === undefined) return;
    this.#known.set(id, known);
    if (this.#known.size <= KEPT_MAX) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}
