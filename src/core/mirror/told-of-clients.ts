/** What the bridge is told of the hub's clients as they come and go: each time only what changed since it was last told. */
import { ACP } from "../../protocol/acp.ts";
import { isObject, type JsonObject } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import type { By } from "../../protocol/meta.ts";
import { mergeCapabilities } from "../capabilities.ts";
import type { Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import type { UpCalls } from "./up.ts";

export const HUB_BY: By = { connectionId: "hub", device: "hub", name: "acp-hub" };

/** All that differs in what clients declare, in characters: no crowd of them makes the bridge of an editor read more than this. */
const DECLARED_CHARS_MAX = 65_536;

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
    const merged = mergeCapabilities(undefined, this.#declared());
    const text = JSON.stringify(merged);
    if (text === this.#capabilities) return;
    this.#capabilities = text;
    this.#parts.up.request(ACP.initialize, { protocolVersion: 1, clientCapabilities: merged }, HUB_BY, (body) => {
      if (!("result" in body) || !isObject(body.result)) return;
      this.#context.agentInfo ??= body.result;
      this.#parts.onAgentReady();
    });
  }

  /** What those in scope declared, each thing once; the one said last stands last, because of `_meta` its value counts. */
  #declared(): JsonObject[] {
    const declared = new Map<string, JsonObject>();
    let left = DECLARED_CHARS_MAX;
    for (const each of this.#context.connections) {
      if (!each.isInitialized || (each.isHubWide && !this.#parts.hasAttached(each))) continue;
      const text = each.capabilitiesText;
      if (!declared.delete(text)) {
        if (text.length > left) continue;
        left -= text.length;
      }
      declared.set(text, each.capabilities);
    }
    return [...declared.values()];
  }
}
