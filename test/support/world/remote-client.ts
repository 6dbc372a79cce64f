/** A remote client: an honest ACP client behind a socket that can stall, with a connection of the mirror. */

import type { Encoder } from "../../../src/core/fanout/feed.ts";
import { Outbox, type OutboxLimits } from "../../../src/core/fanout/outbox.ts";
import { Connection } from "../../../src/core/mirror/connection.ts";
import type { CloseCode } from "../../../src/protocol/close-codes.ts";
import { connectionId } from "../../../src/protocol/ids.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { PRESETS, type Scope } from "../../../src/protocol/scopes.ts";
import { AcpClient } from "./acp-client.ts";
import { Wire } from "./wire.ts";

/** What a fake socket takes: the texts of one write, a line each. */
export type Batch = Buffer;

export const batchEncoder: Encoder<Batch> = {
  encode: (texts) => ({
    encoded: Buffer.from(texts.join("\n")),
    bytes: texts.reduce((sum, text) => sum + text.length, 0),
  }),
};

export interface RemoteOptions {
  readonly name?: string;
  readonly device?: string;
  /** Declares `_meta["acp-hub"]`. */
  readonly extended?: boolean;
  readonly hub?: JsonObject;
  readonly forms?: boolean;
  readonly urls?: boolean;
  readonly scopes?: readonly Scope[];
  readonly limits?: OutboxLimits;
  readonly capabilities?: JsonObject;
  readonly pinnedSession?: string;
  readonly isExternal?: boolean;
}

export class RemoteClient extends AcpClient {
  readonly connection: Connection<Batch>;
  readonly down: Wire;
  readonly up: Wire;
  readonly options: RemoteOptions;
  /** Writes its socket was given: one per client and tick is the budget. */
  writes = 0;
  closedWith: CloseCode | undefined;

  constructor(id: string, options: RemoteOptions, toMirror: (client: RemoteClient, text: string) => void) {
    const up = new Wire(`${id} up`, (text) => toMirror(this, text));
    super(options.name ?? id, (text) => up.push(text));
    this.up = up;
    this.options = options;
    this.readsNumbers = options.extended === true;
    this.down = new Wire(
      `${id} down`,
      (text) => this.onText(text),
      () => outbox.onDrain(),
    );
    const sink = {
      write: (batch: Batch) => {
        this.writes += 1;
        for (const text of batch.toString("utf8").split("\n")) this.down.push(text);
      },
      buffered: () => this.down.bufferedBytes,
    };
    const limits = options.limits ?? { pauseBytes: 4000, hardBytes: 4_000_000 };
    const outbox: Outbox<Batch> = new Outbox(connectionId(id), sink, batchEncoder, limits, () => this.onHopeless());
    this.connection = new Connection(
      {
        id: connectionId(id),
        device: options.device ?? `device-${id}`,
        name: options.name ?? id,
        scopes: new Set(options.scopes ?? PRESETS.driver),
        isExternal: options.isExternal === true,
        ...(options.pinnedSession !== undefined && { pinnedSession: options.pinnedSession }),
      },
      outbox,
    );
  }

  /** Set by the world: what the shell does with a hopeless client. */
  onHopeless: () => void = () => undefined;

  get capabilities(): JsonObject {
    const { extended, forms, urls, hub, capabilities } = this.options;
    const elicitation = { ...(forms === true && { form: {} }), ...(urls === true && { url: {} }) };
    return {
      ...capabilities,
      ...(forms === true || urls === true ? { elicitation } : {}),
      ...(extended === true && { _meta: { "acp-hub": hub ?? {} } }),
    };
  }

  get id(): string {
    return this.connection.id;
  }

  stall(): void {
    this.down.isStalled = true;
  }

  drain(): void {
    this.down.isStalled = false;
    if (this.down.waiting.length === 0) this.connection.outbox.onDrain();
  }
}
