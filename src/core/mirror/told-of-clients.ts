/** What the bridge is told of the hub's clients as they come and go: each time only what changed since it was last told. */
import { ACP } from "../../protocol/acp.ts";
import { isObject } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import type { By } from "../../protocol/meta.ts";
import { mergeCapabilities } from "../capabilities.ts";
import type { Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import type { UpCalls } from "./up.ts";

export const HUB_BY: By = { connectionId: "hub", device: "hub", name: "acp-hub" };

export interface ToldOfClientsParts<Encoded> {
  readonly up: UpCalls<Encoded>;
  hasAttached(connection: Connection<Encoded>): boolean;
  onAgentReady(): void;
}

export class ToldOfClients<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #parts: ToldOfClientsParts<Encoded>;
  #capabilities = "";
  #answerers = 0;

  constructor(context: MirrorContext<Encoded>, parts: ToldOfClientsParts<Encoded>) {
    this.#context = context;
    this.#parts = parts;
  }

  /** A new link knows nothing yet. */
  onLinkUp(): void {
    this.#capabilities = "";
    this.#answerers = 0;
    this.tellCapabilities();
    this.tellAnswerers();
  }

  /** X3: the editor's word that is no answer waits for the first count of copies only where somebody may hold one. */
  tellAnswerers(): void {
    let count = 0;
    for (const each of this.#context.connections) if (each.isInitialized && each.may("interactions:answer")) count += 1;
    if (!this.#context.isLinkUp || count === this.#answerers) return;
    this.#answerers = count;
    this.#context.notifyLink(LINK.answerers, { count });
  }

  /** I3: the hub's part of the merged view, re-sent when it changed. A hub-wide connection is part of it where it is attached. */
  tellCapabilities(): void {
    if (!this.#context.isLinkUp) return;
    const declared = [...this.#context.connections]
      .filter((each) => each.isInitialized && (!each.isHubWide || this.#parts.hasAttached(each)))
      .map((each) => each.capabilities);
    const merged = mergeCapabilities(undefined, declared);
    const text = JSON.stringify(merged);
    if (text === this.#capabilities) return;
    this.#capabilities = text;
    this.#parts.up.request(ACP.initialize, { protocolVersion: 1, clientCapabilities: merged }, HUB_BY, (body) => {
      if (!("result" in body) || !isObject(body.result)) return;
      this.#context.agentInfo ??= body.result;
      this.#parts.onAgentReady();
    });
  }
}
