/** What the parts of an attached agent share. */
import type { Clock } from "../../client/ports.ts";
import type { Frame, RpcFailure, RpcResponse } from "../../protocol/envelope.ts";
import { request } from "../../protocol/envelope.ts";
import { type JsonObject, stringAt } from "../../protocol/json.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { EditorCalls } from "./calls.ts";
import { Dialogs } from "./dialogs.ts";
import { SharedSession } from "./shared-session.ts";

/** The editor's side: ACP on stdio, or a pair in memory. */
export interface EditorPipe {
  start(handlers: EditorHandlers): void;
  /** False when the editor does not keep up; `onDrain` follows. */
  send(text: string): boolean;
  close(): void;
}

export interface EditorHandlers {
  onFrame(frame: Frame): void;
  onJunk(refusal: RpcFailure, bytes: number): void;
  onClose(): void;
  onDrain(): void;
}

export interface AttachOptions {
  readonly clock: Clock;
  /** `?session=`: `session/new` adopts it. */
  readonly pinnedSession: string | undefined;
  /** Unique for ever: names prompts, so that one sent again joins the first. */
  newId(): string;
}

export class AttachContext {
  readonly options: AttachOptions;
  readonly sessions: Map<string, SharedSession> = new Map();
  readonly calls: EditorCalls;
  readonly dialogs: Dialogs;
  readonly toEditor: (text: string) => void;
  readonly toHub: (text: string) => void;
  /** The editor understands `_acp-hub/*` itself. */
  isEditorExtended = false;
  /** The largest message the hub takes of us; it says so when it is greeted. */
  frameBytesMax: number = LIMITS.remoteFrameBytes;
  /** Forks on their way: what they replay comes under an id nobody knows yet. */
  forks = 0;
  readonly #own = new Map<number, (response: RpcResponse) => void>();
  #nextId = 1;

  constructor(options: AttachOptions, toEditor: (text: string) => void, toHub: (text: string) => void) {
    this.options = options;
    this.toEditor = toEditor;
    this.toHub = toHub;
    this.calls = new EditorCalls(toEditor);
    this.dialogs = new Dialogs({ toEditor, toHub, isShown: (id) => this.shown(id) !== undefined });
  }

  /** Never used again, on whatever socket: a late answer belongs to nothing. */
  nextHubId(): number {
    const id = this.#nextId;
    this.#nextId += 1;
    return id;
  }

  /** A request of our own; forgotten when the socket goes. */
  request(method: string, params: JsonObject, onReply: (response: RpcResponse) => void): void {
    const id = this.nextHubId();
    this.#own.set(id, onReply);
    this.toHub(JSON.stringify(request(id, method, params)));
  }

  /** False when the response is for nobody here. */
  onResponse(response: RpcResponse): boolean {
    const onReply = typeof response.id === "number" ? this.#own.get(response.id) : undefined;
    if (onReply === undefined || typeof response.id !== "number") return false;
    this.#own.delete(response.id);
    onReply(response);
    return true;
  }

  onDown(): void {
    this.#own.clear();
    this.forks = 0;
  }

  /** The session, if the editor has it. */
  shown(id: string | undefined): SharedSession | undefined {
    return id === undefined ? undefined : this.sessions.get(id);
  }

  /** The editor gets to know a session, with its history or from here on. One it knows stays as it is. */
  meet(id: string, extent: "whole" | "onward", params: JsonObject): SharedSession {
    const known = this.sessions.get(id);
    if (known !== undefined && !known.isOver) return known;
    const session = new SharedSession(id, extent === "whole", stringAt(params, "cwd"));
    this.sessions.set(id, session);
    return session;
  }
}
