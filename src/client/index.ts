/** The headless client's public face. Browser-safe: sockets, time and storage come in. */

export { KEY_HEADER } from "../protocol/key-header.ts";
export { acceptForm, acceptUrl, cancelForm, declineForm, selectOption } from "./answers.ts";
export {
  bearerCredential,
  type Credential,
  cookieCredential,
  readTokenPair,
  refreshingCredential,
  type TokenPair,
} from "./api/credential.ts";
export { ApiError, type Fetch, type FetchInit, type HttpOptions } from "./api/http.ts";
export { type AnswerOutcome, HubApi, type Overview, type SessionQuery } from "./api/hub-api.ts";
export { type EventsState, type HubEvent, HubEvents } from "./api/hub-events.ts";
export type { PreferenceChange, PushApi, PushDelivery } from "./api/push-api.ts";
export type {
  Device,
  FileEntry,
  FileMatches,
  HistoryPage,
  HistorySession,
  Instance,
  InstanceSession,
  LastLine,
  Pairing,
} from "./api/types.ts";
export {
  Connection,
  type ConnectionEvent,
  type ConnectionOptions,
  type ConnectionState,
  DEFAULT_CAPABILITIES,
  DialRefused,
  type DialTarget,
} from "./connection.ts";
export { bearerDial, socketUrl, ticketDial } from "./dial.ts";
export {
  type Choice,
  checkForm,
  type FormField,
  type FormResult,
  type FormValue,
  type FormValues,
  initialValues,
  readForm,
} from "./elicitation-form.ts";
export { Emitter, Observable, type Unsubscribe } from "./emitter.ts";
export { CallError, ClientError, type ClientErrorCode } from "./errors.ts";
export { HubClient, type HubClientOptions, type NewSession } from "./hub-client.ts";
export { HubClock } from "./hub-clock.ts";
export type { HubInfo } from "./hub-info.ts";
export {
  type InteractionCard,
  type InteractionState,
  type OwnAnswer,
  type SettledCard,
  shownCards,
} from "./interactions.ts";
export { type Delivery, Outbox, type OutboxEntry, type OutboxFailure } from "./outbox.ts";
export {
  type ClientStorage,
  type Clock,
  memoryStorage,
  type Socket,
  type SocketClose,
  type SocketFactory,
  type SocketHandlers,
  systemClock,
} from "./ports.ts";
export { SessionClient, type SessionOptions, type SessionPort, turnOf } from "./session.ts";
export type { AttachState, Attendant, SavedSession, SessionView } from "./session-view.ts";
export { isText, textOf } from "./transcript/blocks.ts";
export type { TranscriptChanges } from "./transcript/changes.ts";
export {
  type AwayDigest,
  EMPTY_TRANSCRIPT,
  type MarkItem,
  type MessageItem,
  type RawItem,
  type SettledItem,
  type ToolItem,
  type Transcript,
  type TranscriptInput,
  type TranscriptItem,
  type TurnEndItem,
} from "./transcript/item.ts";
export { oldestSeq, prependPage } from "./transcript/page.ts";
export { reduceTranscript } from "./transcript/reduce.ts";
export { mergeCard } from "./transcript/tool-card.ts";
export type { Typist } from "./typing.ts";
export { overWebSocket, type WebSocketConstructor, type WebSocketLike, webSocketFactory } from "./web-socket.ts";
