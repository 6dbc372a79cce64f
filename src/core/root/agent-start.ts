/** The agent's one initialize (I2), and what it is told about its clients (I3, I4). */
import { ACP, ACP_VERSION } from "../../protocol/acp.ts";
import { isObject, type JsonObject, objectAt } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import { guaranteedCapabilities, mergeCapabilities } from "../capabilities.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { RootContext } from "./context.ts";

type Reply = (body: AnswerBody) => void;

export class AgentStart {
  readonly #context: RootContext;
  #waiting: Reply[] | undefined;
  #params: JsonObject | undefined;
  #gone: AnswerBody | undefined;

  constructor(context: RootContext) {
    this.#context = context;
  }

  /** The editor initializes: the agent is asked once; afterwards its own result is given again (I1). */
  primary(params: JsonObject, reply: Reply): void {
    this.#params = params;
    if (this.#gone !== undefined) return reply(this.#gone);
    if (this.#waiting !== undefined) {
      this.#waiting.push(reply);
      return;
    }
    if (this.#context.agentInfo === undefined) return this.#ask(reply);
    this.onCapabilitiesChanged();
    this.#context.link.notify(LINK.agent, this.#context.describeAgent());
    return reply({ result: this.#context.agentInfo });
  }

  headless(): void {
    this.#params = {
      protocolVersion: ACP_VERSION,
      clientInfo: { name: "acp-hub", title: "acp-hub", version: this.#context.options.version },
      clientCapabilities: {},
    };
    this.#ask(() => undefined);
  }

  /** An in-process agent sees the merged view live (I3); a spawned one was told what we can guarantee. */
  onCapabilitiesChanged(): void {
    if (!this.#context.options.seesCapabilitiesLive || this.#context.agentInfo === undefined) return;
    this.#context.agent.request(ACP.initialize, this.#withCapabilities(), () => undefined);
  }

  onAgentGone(body: AnswerBody): void {
    this.#gone = body;
  }

  #ask(reply: Reply): void {
    this.#waiting = [reply];
    this.#context.agent.request(ACP.initialize, this.#withCapabilities(), (body) => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      // A failed initialize is returned, not remembered (I2).
      if ("result" in body && isObject(body.result)) {
        this.#context.agentInfo = body.result;
        this.#context.link.notify(LINK.agent, this.#context.describeAgent());
      }
      for (const each of waiting) each(body);
    });
  }

  #withCapabilities(): JsonObject {
    const own = objectAt(this.#params, "clientCapabilities");
    const { options, remoteCapabilities } = this.#context;
    const primary = options.hasPrimary ? (own ?? {}) : undefined;
    const merged = options.seesCapabilitiesLive
      ? mergeCapabilities(primary, remoteCapabilities === undefined ? [] : [remoteCapabilities])
      : guaranteedCapabilities(primary, options.isShared && options.forms === "any");
    return { ...this.#params, clientCapabilities: merged };
  }
}
