/** Branded ids: a SessionId cannot go where an InstanceId is due. Minted only here or by the peer that owns them. */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** An ACP session id, as the agent made it (never rewritten). */
export type SessionId = Branded<"SessionId">;
/** One running bridge as the hub lists it; new per start. */
export type InstanceId = Branded<"InstanceId">;
/** One authenticated socket or pipe. */
export type ConnectionId = Branded<"ConnectionId">;
/** A paired thing that holds a credential. */
export type DeviceId = Branded<"DeviceId">;
/** An agent's question, unique for ever, the same on every hop (R2). */
export type InteractionId = Branded<"InteractionId">;
/** A client's own id of a prompt, the key of its retries (P3). */
export type PromptId = Branded<"PromptId">;
/** Names one stretch of a session's numbering; changes when continuity may be lost. */
export type Epoch = Branded<"Epoch">;

export const sessionId = (value: string): SessionId => value as SessionId;
export const instanceId = (value: string): InstanceId => value as InstanceId;
export const connectionId = (value: string): ConnectionId => value as ConnectionId;
export const deviceId = (value: string): DeviceId => value as DeviceId;
export const interactionId = (value: string): InteractionId => value as InteractionId;
export const promptId = (value: string): PromptId => value as PromptId;
export const epoch = (value: string): Epoch => value as Epoch;

/** How far a reader has come in a session. `seq` counts events from 1 within `epoch`; 0 is "nothing yet". */
export interface Cursor {
  readonly epoch: Epoch;
  readonly seq: number;
}
