/**
 * Plays the client's part for sessions no editor serves (S7): files inside the session's directories, terminals in process groups
 * of their own. Every request is answered exactly once, a cancelled one included.
 */
import type { AnswerBody } from "../../core/interaction/answer.ts";
import type { HostRequest, HostSession } from "../../core/root/ports.ts";
import { idKey, type RpcId } from "../../protocol/envelope.ts";
import { methodNotFound, RPC } from "../../protocol/errors.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { Json } from "../../protocol/json.ts";
import { readTextFile, writeTextFile } from "./files.ts";
import { hostErrorToRpc } from "./host-error.ts";
import { type OutputListener, Terminals } from "./terminals.ts";

export interface HostEvents {
  answer(id: RpcId, body: AnswerBody): void;
  /** A terminal printed something, as it comes and in order with the answers about it. */
  readonly onOutput: OutputListener;
}

const CANCELLED: AnswerBody = { error: { code: RPC.requestCancelled, message: "Request cancelled" } };

export class Host {
  readonly #events: HostEvents;
  readonly #terminals: Terminals;
  /** Requests that wait: only these can be taken back. */
  readonly #open = new Map<string, RpcId>();

  constructor(events: HostEvents) {
    this.#events = events;
    this.#terminals = new Terminals(events.onOutput);
  }

  serve(request: HostRequest, session: HostSession): void {
    this.#open.set(idKey(request.id), request.id);
    void this.#run(request, session).then((body) => this.#answer(request.id, body));
  }

  /** The agent no longer wants an answer; it gets this one. */
  cancel(id: RpcId): void {
    this.#answer(id, CANCELLED);
  }

  release(session: SessionId): void {
    void this.#terminals.releaseAll(session);
  }

  /** Resolves when no process of a terminal is left. */
  stop(): Promise<void> {
    return this.#terminals.stop();
  }

  #answer(id: RpcId, body: AnswerBody): void {
    if (this.#open.delete(idKey(id))) this.#events.answer(id, body);
  }

  async #run(request: HostRequest, session: HostSession): Promise<AnswerBody> {
    try {
      const value = await this.#value(request, session);
      return value === undefined ? { error: methodNotFound(request.method) } : { result: value };
    } catch (error) {
      return { error: hostErrorToRpc(error) };
    }
  }

  async #value({ method, params }: HostRequest, session: HostSession): Promise<Json | undefined> {
    switch (method) {
      case "fs/read_text_file":
        return readTextFile(params, session);
      case "fs/write_text_file":
        return writeTextFile(params, session);
      case "terminal/create":
        return this.#terminals.create(params, session);
      case "terminal/output":
        return this.#terminals.output(params, session);
      case "terminal/wait_for_exit":
        return { ...(await this.#terminals.waitForExit(params, session)) };
      case "terminal/kill":
        return this.#terminals.kill(params, session);
      case "terminal/release":
        return this.#terminals.release(params, session);
      default:
        return undefined;
    }
  }
}
