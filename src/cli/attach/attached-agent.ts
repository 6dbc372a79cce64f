/**
 * An ACP agent that is a shared session: the editor on one side, a hub on the other, and a link in between that may come and go.
 *
 * At1 The editor sees one unbroken agent: its ids, its sessions, its dialogs and its running prompts outlive every link.
 * At2 Nothing waits without a bound: what cannot be asked in time is answered with why.
 */
import { ACP } from "../../protocol/acp.ts";
import { CLOSE } from "../../protocol/close-codes.ts";
import { type Frame, paramsOf, type RpcResponse } from "../../protocol/envelope.ts";
import { isObject, type JsonObject, numberAt } from "../../protocol/json.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { hubMeta } from "../../protocol/meta.ts";
import { AttachContext, type AttachOptions, type EditorPipe } from "./context.ts";
import { EditorSide } from "./editor-side.ts";
import { onHubNotification } from "./hub-events.ts";
import { HubLink, type LinkStop } from "./hub-link.ts";
import type { HubTarget } from "./hub-socket.ts";
import { Returns } from "./returns.ts";
import { hubInitialize } from "./session-calls.ts";

export type AttachEnd = LinkStop | { readonly kind: "editor-gone"; readonly words: string };

/** After a return the hub asks its open questions anew; what has not come by then has ended. */
const SETTLE_MS = 1500;

export class AttachedAgent {
  readonly #editor: EditorPipe;
  readonly #context: AttachContext;
  readonly #link: HubLink;
  readonly #side: EditorSide;
  readonly #returns: Returns;
  /** The hub knows the editor, on this socket. */
  #isInitialized = false;
  #cancelSettle: () => void = () => undefined;
  #resolve: (end: AttachEnd) => void = () => undefined;
  #isOver = false;

  constructor(editor: EditorPipe, target: HubTarget, options: AttachOptions) {
    this.#editor = editor;
    const toEditor = (text: string): void => {
      if (!editor.send(text)) this.#link.pause();
    };
    this.#context = new AttachContext(options, toEditor, (text) => this.#link.send(text));
    this.#link = new HubLink(target, options.clock, {
      onUp: () => this.#greet(),
      onFrame: (frame) => this.#onHub(frame),
      onDown: () => this.#onDown(),
      onStopped: (stop) => this.#onStopped(stop),
    });
    this.#side = new EditorSide(this.#context, {
      onInitialize: () => this.#greet(),
      onInitialized: (response) => this.#onInitialized(response),
    });
    this.#returns = new Returns(this.#context, (session) => this.#side.failSession(session.id));
  }

  /** Runs until the editor has gone, or nothing is left to be attached to. */
  run(): Promise<AttachEnd> {
    const ended = new Promise<AttachEnd>((resolve) => {
      this.#resolve = resolve;
    });
    this.#editor.start({
      onFrame: (frame) => this.#side.onFrame(frame),
      onJunk: (refusal) => this.#context.toEditor(JSON.stringify(refusal)),
      onClose: () => this.#end({ kind: "editor-gone", words: "the editor has gone" }),
      onDrain: () => this.#link.resume(),
    });
    this.#link.start();
    return ended;
  }

  /** Both are there, the link and the editor's initialize: the hub is told who we are. */
  #greet(): void {
    const params = this.#side.initializeParams;
    if (!this.#link.isUp || params === undefined || this.#side.sendInitialize()) return;
    this.#context.request(ACP.initialize, hubInitialize(params), (response) => this.#onInitialized(response));
  }

  #onInitialized(response: RpcResponse): void {
    if (this.#isInitialized || !this.#link.isUp) return;
    // A failed initialize is the editor's to repeat; on a later socket it is the end, for it worked before.
    if ("error" in response) {
      if (this.#context.sessions.size > 0) this.#onStopped({ kind: "refused", words: response.error.message });
      return;
    }
    this.#isInitialized = true;
    const told = isObject(response.result) ? hubMeta(response.result) : undefined;
    const pingMs = numberAt(told, "pingMs");
    if (pingMs !== undefined) this.#link.expectPings(pingMs);
    this.#context.frameBytesMax = numberAt(told, "frameBytesMax") ?? LIMITS.remoteFrameBytes;
    const sessions = [...this.#context.sessions.values()].filter((session) => !session.isOver && !session.isLoading);
    this.#returns.begin(sessions, () => this.#onReturned());
  }

  #onReturned(): void {
    this.#side.open();
    this.#cancelSettle();
    this.#cancelSettle = this.#context.options.clock.after(SETTLE_MS, () => this.#context.dialogs.onReturned());
  }

  #onDown(): void {
    this.#isInitialized = false;
    this.#cancelSettle();
    this.#returns.onDown();
    this.#context.onDown();
    this.#context.dialogs.onDown();
    this.#side.onDown();
  }

  #onStopped(stop: LinkStop): void {
    this.#side.failAll(`This session cannot be reached any more: ${stop.words}`);
    this.#end(stop);
  }

  #end(end: AttachEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelSettle();
    this.#link.stop();
    this.#editor.close();
    this.#resolve(end);
  }

  #onHub(frame: Frame): void {
    switch (frame.kind) {
      case "response":
        if (this.#side.putsOff(frame.msg) || this.#context.onResponse(frame.msg)) return;
        this.#context.calls.onResponse(frame.msg);
        return;
      case "request":
        this.#context.dialogs.ask(frame.msg.id, frame.msg.method, this.#asEditorKnows(paramsOf(frame.msg) ?? {}));
        return;
      case "notification":
        onHubNotification(this.#context, frame, {
          onLost: (session) => this.#returns.again(session),
          onGone: (session, reason) => this.#onSessionGone(session.id, reason),
        });
    }
  }

  /** What this command was to be is no more: an editor understands an agent that ends. */
  #onSessionGone(sessionId: string, reason: string): void {
    if (sessionId !== this.#context.options.pinnedSession || reason === "superseded") return;
    const words = reason === "instance-gone" ? CLOSE.instanceGone.meaning : "the session was closed";
    this.#onStopped({ kind: "ended", words });
  }

  /** X12: a question about a request names it by the id the editor gave. */
  #asEditorKnows(params: JsonObject): JsonObject {
    const own = this.#context.calls.callOf(params["requestId"]);
    return own === undefined ? params : { ...params, requestId: own.id };
  }
}
