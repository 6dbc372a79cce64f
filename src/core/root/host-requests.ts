/**
 * The agent's other requests (fs, terminal, extensions): the session's own editor answers them, under an id of ours; sessions it
 * does not know are served by the bridge (S7). Nothing is left open: where nobody can serve, the answer is -32601.
 */

import { ACP } from "../../protocol/acp.ts";
import { idKey, notification, paramsOf, type RpcId, type RpcRequest, request } from "../../protocol/envelope.ts";
import { methodNotFound, RPC } from "../../protocol/errors.ts";
import { type JsonObject, objectAt } from "../../protocol/json.ts";
import { type AnswerBody, answerBody } from "../interaction/answer.ts";
import { bodyText, PRIMARY_KEY, unforged } from "./calls.ts";
import type { RootContext } from "./context.ts";
import type { RootSession } from "./session.ts";
import type { TerminalMirror } from "./terminal-mirror.ts";

interface Asked {
  readonly agentId: RpcId;
  /** The editor's id of it; undefined when the bridge serves it. */
  readonly primaryId: number | undefined;
  readonly message: RpcRequest;
  readonly session: RootSession | undefined;
}

export class HostRequests {
  readonly #context: RootContext;
  readonly terminals: TerminalMirror;
  readonly #asked = new Map<string, Asked>();

  constructor(context: RootContext, terminals: TerminalMirror) {
    this.#context = context;
    this.terminals = terminals;
  }

  /** One request of the agent that is no interaction. */
  take(message: RpcRequest, session: RootSession | undefined): void {
    if (this.#asked.has(idKey(message.id))) return this.#context.ports.observe({ kind: "duplicate-agent-id" });
    if (message.method.startsWith("_acp-hub/")) return this.#refuse(message);
    const isOurs = session !== undefined && !session.isPrimarys && isHostMethod(message.method);
    return isOurs ? this.#serve(message, session) : this.#forward(message, session);
  }

  /** The bridge's answer to a request it was handed. False when nobody waits for it. */
  answer(agentId: RpcId, body: AnswerBody, now: number): boolean {
    const asked = this.#asked.get(idKey(agentId));
    if (asked === undefined || asked.primaryId !== undefined) return false;
    this.#settle(asked, body, now);
    return true;
  }

  /** The agent takes a request back: who has it is told under the id they know; their answer still goes through. */
  withdraw(agentId: RpcId): boolean {
    const asked = this.#asked.get(idKey(agentId));
    if (asked === undefined) return false;
    if (asked.primaryId === undefined) this.#context.ports.cancelHost?.(agentId);
    else this.#cancel(asked.primaryId);
    return true;
  }

  /** The editor is gone: what it was asked is answered. */
  onPrimaryGone(now: number): void {
    const error = { code: RPC.internalError, message: "The editor is gone" };
    for (const asked of [...this.#asked.values()])
      if (asked.primaryId !== undefined) this.#settle(asked, { error }, now);
  }

  /** The agent is gone: nobody waits for these any more. */
  onAgentGone(): void {
    for (const { agentId, primaryId } of this.#asked.values()) {
      if (primaryId === undefined) this.#context.ports.cancelHost?.(agentId);
      else {
        this.#context.primary?.asked.delete(primaryId);
        this.#cancel(primaryId);
      }
    }
    this.#asked.clear();
  }

  #forward(message: RpcRequest, session: RootSession | undefined): void {
    const primary = this.#context.presentPrimary;
    if (primary === undefined) return this.#refuse(message);
    const primaryId = primary.nextId();
    const asked: Asked = { agentId: message.id, primaryId, message, session };
    this.#asked.set(idKey(message.id), asked);
    primary.asked.set(primaryId, (response, now) => this.#settle(asked, answerBody(response), now));
    return this.#context.ports.toPrimary(JSON.stringify(request(primaryId, message.method, unforged(message.params))));
  }

  /** S7: only what the agent was told exists, and only where there is a host to serve it. */
  #serve(message: RpcRequest, session: RootSession): void {
    const { ports } = this.#context;
    if (ports.serveHost === undefined || !this.#wasDeclared(message.method)) return this.#refuse(message);
    this.#asked.set(idKey(message.id), { agentId: message.id, primaryId: undefined, message, session });
    const { id, cwd, roots } = session;
    return ports.serveHost(
      { id: message.id, method: message.method, params: paramsOf(message) ?? {} },
      { id, cwd, roots },
    );
  }

  #wasDeclared(method: string): boolean {
    const capabilities = this.#context.primary?.capabilities;
    if (method.startsWith("terminal/")) return capabilities?.["terminal"] === true;
    const fs: JsonObject = objectAt(capabilities, "fs") ?? {};
    return method === "fs/write_text_file" ? fs["writeTextFile"] === true : fs["readTextFile"] === true;
  }

  #settle(asked: Asked, body: AnswerBody, now: number): void {
    const key = idKey(asked.agentId);
    if (this.#asked.get(key) !== asked) return;
    this.#asked.delete(key);
    if (asked.primaryId !== undefined) this.#context.primary?.asked.delete(asked.primaryId);
    this.#context.ports.toAgent(bodyText(asked.agentId, body));
    if (asked.session === undefined || "error" in body) return;
    const knows = asked.primaryId === undefined ? undefined : PRIMARY_KEY;
    this.terminals.onAnswer(asked.session, asked.message, body.result, now, knows);
  }

  #refuse(message: RpcRequest): void {
    this.#context.ports.toAgent(bodyText(message.id, { error: methodNotFound(message.method) }));
  }

  #cancel(primaryId: number): void {
    if (this.#context.presentPrimary === undefined) return;
    // The same value stands twice: clients of the predecessor read `id` (X2).
    this.#context.ports.toPrimary(
      JSON.stringify(notification(ACP.cancelRequest, { requestId: primaryId, id: primaryId })),
    );
  }
}

const isHostMethod = (method: string): boolean => method.startsWith("fs/") || method.startsWith("terminal/");
