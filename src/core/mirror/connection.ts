/** One authenticated remote connection, as the core knows it: who it is, what it may, what it can show, what it is owed. */

import { failure, type RpcError, type RpcId, type RpcResponse, request } from "../../protocol/envelope.ts";
import type { ConnectionId, InstanceId, InteractionId, SessionId } from "../../protocol/ids.ts";
import { isObject, type Json, type JsonObject } from "../../protocol/json.ts";
import type { Author, By } from "../../protocol/meta.ts";
import type { Scope } from "../../protocol/scopes.ts";
import { withoutBooleans } from "../audience.ts";
import { abilitiesOf, type ClientAbilities } from "../capabilities.ts";
import type { Feed } from "../fanout/feed.ts";
import type { Outbox } from "../fanout/outbox.ts";
import { InFlight } from "../root/calls.ts";

export interface ConnectionSeed {
  readonly id: ConnectionId;
  readonly device: string;
  /** The device's recorded name: what "allowed by" shows (X13). */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** An outside issuer vouches for the person behind it: that is nobody else, whatever the rights (X12). */
  readonly isExternal?: boolean;
  /** `?session=`: `session/new` on this connection adopts that session (contract §4). */
  readonly pinnedSession?: string;
  /** The largest message it may send, in bytes. It is told, so that it need not find out. */
  readonly frameBytesMax?: number;
}

/** A request of this client that waits for its answer. */
export interface ClientRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

export type AskHandler = (response: RpcResponse, now: number) => void;

export class Connection<Encoded> {
  readonly id: ConnectionId;
  readonly device: string;
  readonly name: string;
  readonly isExternal: boolean;
  readonly pinnedSession: string | undefined;
  readonly frameBytesMax: number | undefined;
  readonly outbox: Outbox<Encoded>;
  scopes: ReadonlySet<Scope>;
  abilities: ClientAbilities = abilitiesOf(undefined);
  capabilities: JsonObject = {};
  /** The same as text: of many clients most say the same. */
  capabilitiesText = "{}";
  clientInfo: Json | undefined;
  isInitialized = false;
  isGone = false;
  /** It spans all instances: what names none has to say which (contract §4). */
  isHubWide = false;
  /** It attached a session somewhere: it no longer watches everything (B1). */
  hasAttached = false;
  /** It attaches a session of an instance; called before anything of that session is sent. */
  onAttached: ((session: SessionId, instance: InstanceId) => void) | undefined;
  /** Adds what only the router of a hub-wide connection knows to a result. */
  decorateResult: ((request: ClientRequest, result: Json) => Json) | undefined;
  /** Requests of this client in flight, by their own ids. */
  readonly inFlight: InFlight<ClientRequest> = new InFlight();
  /** Requests this client was sent, by the ids we minted. */
  readonly asked: Map<number, AskHandler> = new Map();
  /** Interactions that wait for this plain client to finish the one it holds (X10). */
  readonly askQueue: Map<InteractionId, () => void> = new Map();
  openCopies = 0;
  /** Per session (the copy itself: ids of two instances may be equal), what it has seen begins after this event (X6). */
  readonly seenAfter: WeakMap<object, number> = new WeakMap();
  /** Its loads carry `_meta.zcode`: it speaks the predecessor's dialect (contract §4). */
  speaksDialect = false;
  /** Sessions it attached by the public attach draft, and the name it gave itself. */
  readonly draftClients: WeakMap<object, string> = new WeakMap();
  #nextId = 1;

  constructor(seed: ConnectionSeed, outbox: Outbox<Encoded>) {
    this.id = seed.id;
    this.device = seed.device;
    this.name = seed.name;
    this.scopes = seed.scopes;
    this.isExternal = seed.isExternal === true;
    this.pinnedSession = seed.pinnedSession;
    this.frameBytesMax = seed.frameBytesMax;
    this.outbox = outbox;
  }

  get by(): By {
    return { connectionId: this.id, device: this.device, name: this.name };
  }

  /** The machine's owner is behind it, as far as a credential can say (X12). */
  get isOwner(): boolean {
    return !this.isExternal && this.may("admin");
  }

  /** For the bridge: who did something, and whether that is the machine's owner. */
  get author(): Author {
    return { ...this.by, isOwner: this.isOwner };
  }

  may(scope: Scope): boolean {
    return this.scopes.has(scope);
  }

  declare(params: JsonObject): void {
    const capabilities = params["clientCapabilities"];
    this.capabilities =
      typeof capabilities === "object" && capabilities !== null && !Array.isArray(capabilities) ? capabilities : {};
    this.capabilitiesText = JSON.stringify(this.capabilities);
    this.abilities = abilitiesOf(this.capabilities);
    this.clientInfo = params["clientInfo"];
    this.outbox.audiences = this.abilities.audiences;
    this.isInitialized = true;
  }

  /** The text of a request to this client under a new id of ours, and the id (X2). */
  mint(method: string, params: JsonObject): { id: number; text: string } {
    const id = this.#nextId;
    this.#nextId += 1;
    return { id, text: JSON.stringify(request(id, method, params)) };
  }

  /** Answers a request of this client, once. */
  answer(id: RpcId, body: { result: Json } | { error: RpcError }, feed?: Feed<Encoded>): void {
    const request = this.inFlight.get(id);
    if (this.isGone || request === undefined) return;
    this.inFlight.delete(id);
    const text = JSON.stringify(
      "error" in body ? failure(id, body.error) : { jsonrpc: "2.0", id, result: this.#shown(request, body.result) },
    );
    this.outbox.send(text, feed);
  }

  #shown(request: ClientRequest, given: Json): Json {
    const result = this.decorateResult?.(request, given) ?? given;
    return isObject(result) && !this.abilities.audiences.has("booleanOptions") ? withoutBooleans(result) : result;
  }
}
