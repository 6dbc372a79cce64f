/** What comes from the editor: its requests, each answered once on its own pipe, and its going (Ro2). */
import { ACP, ACP_VERSION } from "../../protocol/acp.ts";
import { type Frame, failure, paramsOf, type RpcFailure, type RpcRequest } from "../../protocol/envelope.ts";
import { hubError, invalidParams, RPC } from "../../protocol/errors.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { withHubMeta } from "../../protocol/meta.ts";
import { abilitiesOf } from "../capabilities.ts";
import { publicClientInfo } from "../client-info.ts";
import type { AgentStart } from "./agent-start.ts";
import type { Asks } from "./asks.ts";
import { bodyText, type Call } from "./calls.ts";
import type { Primary, RootContext } from "./context.ts";
import type { HostRequests } from "./host-requests.ts";
import type { Opens } from "./opens.ts";
import { takePrimaryResponse } from "./primary-copy.ts";
import type { Requests } from "./requests.ts";
import type { Turns } from "./turns.ts";

export interface PrimaryInputParts {
  readonly start: AgentStart;
  readonly requests: Requests;
  readonly asks: Asks;
  readonly hosts: HostRequests;
  readonly opens: Opens;
  readonly turns: Turns;
}

export class PrimaryInput {
  readonly #context: RootContext;
  readonly #parts: PrimaryInputParts;

  constructor(context: RootContext, parts: PrimaryInputParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** One message. Nothing is heard of one that has gone. */
  on(frame: Frame, now: number): void {
    const { primary } = this.#context;
    if (primary === undefined || primary.isGone) return;
    if (frame.kind === "response") {
      if (!takePrimaryResponse(this.#context, frame.msg, now)) this.#context.ports.observe({ kind: "late-answer" });
    } else if (frame.kind === "notification") {
      if (!primary.hasBegun) return;
      const [params, open] = [paramsOf(frame.msg) ?? {}, primary.inFlight.values()];
      this.#parts.requests.onNotification(primary.caller, frame.msg.method, params, open, now);
    } else this.#onRequest(primary, frame.msg, now);
  }

  /** Junk on the pipe gets the refusal the parser made (T1). */
  refuse(refusal: RpcFailure): void {
    this.#context.ports.toPrimary(JSON.stringify(refusal));
  }

  /** It has closed its pipe. */
  onGone(now: number): void {
    const { primary } = this.#context;
    if (primary === undefined || primary.isGone) return;
    const { hosts, asks, opens, turns } = this.#parts;
    primary.isGone = true;
    primary.inFlight.clear();
    hosts.onPrimaryGone(now);
    asks.onPrimaryGone(now);
    for (const session of this.#context.sessions.values()) {
      opens.detachPrimary(session);
      turns.onCallerGone(session, (caller) => caller.isPrimary, now);
    }
  }

  #onRequest(primary: Primary, message: RpcRequest, now: number): void {
    const { id, method } = message;
    const params = paramsOf(message);
    if (!primary.hasBegun && method !== ACP.initialize) {
      return this.refuse(failure(id, hubError(RPC.invalidRequest, "not-initialized", "initialize has to come first")));
    }
    const call = this.#callOf(primary, message, params ?? {});
    if (!primary.inFlight.add(id, call)) {
      return this.refuse(
        failure(id, hubError(RPC.invalidRequest, "duplicate-request-id", "A request with this id is in flight")),
      );
    }
    const { agentEnd } = this.#context;
    if (method === ACP.initialize) this.#initialize(primary, call);
    else if (agentEnd !== undefined) call.answer(agentEnd);
    else if (params === undefined && message.params !== undefined)
      call.answer({ error: invalidParams("params", "must be an object") });
    else this.#parts.requests.onRequest(call, now);
  }

  #callOf(primary: Primary, message: RpcRequest, params: JsonObject): Call {
    const call: Call = {
      caller: primary.caller,
      id: message.id,
      method: message.method,
      params,
      isOwed: () => primary.inFlight.get(message.id) === call,
      answer: (body) => {
        if (primary.inFlight.get(message.id) !== call) return;
        primary.inFlight.delete(message.id);
        if (!primary.isGone) this.#context.ports.toPrimary(bodyText(message.id, body));
      },
    };
    return call;
  }

  /** I1, I2: its own initialize, with capabilities of ours. A second one re-declares the client. */
  #initialize(primary: Primary, call: Call): void {
    if (typeof call.params["protocolVersion"] !== "number") {
      return call.answer({ error: invalidParams("protocolVersion", "must be a number") });
    }
    primary.hasBegun = true;
    const capabilities = objectAt(call.params, "clientCapabilities");
    primary.capabilities = capabilities;
    primary.abilities = abilitiesOf(capabilities);
    const info = objectAt(call.params, "clientInfo");
    primary.name = stringAt(info, "title") ?? stringAt(info, "name") ?? "editor";
    primary.clientInfo = publicClientInfo(info);
    const version = Math.min(call.params["protocolVersion"], ACP_VERSION);
    const params = withHubMeta({ ...call.params, protocolVersion: version }, undefined);
    return this.#parts.start.primary(params, (body) => {
      if ("result" in body) primary.isInitialized = true;
      else primary.hasBegun = primary.isInitialized;
      call.answer(body);
    });
  }
}
