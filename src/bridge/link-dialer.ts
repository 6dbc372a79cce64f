/**
 * Keeps the link to the hub: dials for ever with bounded backoff, at once when `run/hub.json` changes, and starts a hub when there
 * is none (contract §7). Nothing here ever reaches the editor.
 */
import { type FSWatcher, watch } from "node:fs";
import { lstat } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import type { Sink } from "../core/fanout/outbox.ts";
import type { RootLimits } from "../core/root/ports.ts";
import { type Frame, request } from "../protocol/envelope.ts";
import { arrayAt, asJson, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../protocol/json.ts";
import { LINK, LINK_PROTOCOL, type LinkHello } from "../protocol/link.ts";
import { ndjsonTransport } from "../transport/ndjson.ts";
import type { Transport } from "../transport/transport.ts";
import type { HubLauncher } from "./hub-launcher.ts";
import type { BridgeLog } from "./log.ts";
import type { BridgePaths } from "./paths.ts";

/** What a hub says of itself in its welcome. */
export interface HubWelcome {
  readonly version: string;
  readonly features: readonly string[];
  readonly limits: Partial<RootLimits>;
}

export interface LinkHandlers {
  /** The hub welcomed us; `acked` says what it holds. `drop` ends this link: a hub that takes nothing is dialled anew. */
  onUp(sink: Sink<string>, acked: JsonObject, drop: () => void, hub: HubWelcome): void;
  onFrame(frame: Frame): void;
  onDown(): void;
  onDrain(): void;
}

export interface LinkDialerOptions {
  readonly paths: BridgePaths;
  /** Said anew at each dial. */
  hello(): LinkHello;
  readonly handlers: LinkHandlers;
  /** Undefined: never start one (`ACP_HUB_NO_AUTOSTART`). */
  readonly launcher: HubLauncher | undefined;
  readonly log: BridgeLog;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5000;
const WELCOME_MS = 5000;
const HELLO_ID = "hello";

export class LinkDialer {
  readonly #options: LinkDialerOptions;
  #transport: Transport | undefined;
  #socket: Socket | undefined;
  #isUp = false;
  #isStopped = false;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer: NodeJS.Timeout | undefined;
  #welcomeTimer: NodeJS.Timeout | undefined;
  #watcher: FSWatcher | undefined;

  constructor(options: LinkDialerOptions) {
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  start(): void {
    this.#watch();
    void this.#dial();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#welcomeTimer);
    this.#watcher?.close();
    this.#transport?.close({ reason: "bridge-ends" });
    this.#socket?.destroySoon();
  }

  /** A hub that starts writes `hub.json`: that is worth a dial at once. */
  #watch(): void {
    if (this.#watcher !== undefined || this.#isStopped) return;
    try {
      this.#watcher = watch(this.#options.paths.runDir, (_event, name) => {
        if (name === null || name === "hub.json" || name === "link.sock") this.#wake();
      });
      this.#watcher.on("error", () => this.#unwatch());
      this.#watcher.unref();
    } catch {
      // The directory does not exist yet: the hub makes it, and the next dial tries again.
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #wake(): void {
    if (this.#isUp || this.#transport !== undefined || this.#isStopped) return;
    this.#retryMs = FIRST_RETRY_MS;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#dial(), 20);
    this.#retryTimer.unref();
  }

  async #dial(): Promise<void> {
    if (this.#isStopped || this.#transport !== undefined) return;
    this.#watch();
    if (!(await this.#isSafe())) {
      await this.#options.launcher?.launch();
      return this.#retry();
    }
    if (this.#isStopped || this.#transport !== undefined) return;
    const socket = connect({ path: this.#options.paths.linkSocket });
    this.#socket = socket;
    socket.unref();
    const transport = ndjsonTransport(socket, socket);
    this.#transport = transport;
    let isConnected = false;
    socket.once("connect", () => {
      isConnected = true;
      this.#sayHello(transport);
    });
    transport.start({
      onFrame: (frame) => this.#onFrame(frame, transport),
      onJunk: (_refusal, bytes) => this.#options.log.warn("hub sent a line that is no message", { bytes }),
      onDrain: () => this.#options.handlers.onDrain(),
      onClose: () => void this.#onClose(isConnected),
    });
  }

  /** Another local user must not be able to pose as the hub: the socket's directory has to be ours alone. */
  async #isSafe(): Promise<boolean> {
    try {
      const info = await lstat(this.#options.paths.runDir);
      const isOurs = process.getuid === undefined || info.uid === process.getuid();
      if (info.isDirectory() && isOurs && (info.mode & 0o077) === 0) return true;
      this.#options.log.warn("the run directory is not private to this user: not dialling", {
        mode: info.mode & 0o777,
      });
      return false;
    } catch {
      return false;
    }
  }

  #sayHello(transport: Transport): void {
    transport.send(JSON.stringify(request(HELLO_ID, LINK.hello, asJson(this.#options.hello()))));
    this.#welcomeTimer = setTimeout(() => transport.close({ reason: "no-welcome" }), WELCOME_MS);
    this.#welcomeTimer.unref();
  }

  #onFrame(frame: Frame, transport: Transport): void {
    if (this.#isUp) return this.#options.handlers.onFrame(frame);
    if (frame.kind !== "response" || frame.msg.id !== HELLO_ID) return undefined;
    clearTimeout(this.#welcomeTimer);
    const welcome = "result" in frame.msg && isObject(frame.msg.result) ? frame.msg.result : undefined;
    if (welcome === undefined || numberAt(welcome, "protocol") !== LINK_PROTOCOL) {
      this.#options.log.warn("the hub refused the link");
      this.#retryMs = MAX_RETRY_MS;
      return transport.close({ reason: "refused" });
    }
    this.#isUp = true;
    this.#retryMs = FIRST_RETRY_MS;
    this.#options.log.info("link up");
    const sink: Sink<string> = {
      write: (lines) => void transport.send(lines),
      buffered: () => transport.bufferedBytes,
    };
    const hub = {
      version: stringAt(welcome, "hubVersion") ?? "",
      features: featuresOf(welcome),
      limits: limitsOf(welcome),
    };
    const drop = (): void => transport.close({ reason: "hub-stuck" });
    return this.#options.handlers.onUp(sink, objectAt(welcome, "acked") ?? {}, drop, hub);
  }

  async #onClose(wasConnected: boolean): Promise<void> {
    clearTimeout(this.#welcomeTimer);
    this.#transport = undefined;
    this.#socket = undefined;
    if (this.#isUp) {
      this.#isUp = false;
      this.#options.log.info("link down");
      this.#options.handlers.onDown();
    }
    if (this.#isStopped) return;
    if (!wasConnected) await this.#options.launcher?.launch();
    this.#retry();
  }

  #retry(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#retryTimer);
    const delay = this.#retryMs * (0.8 + Math.random() * 0.4);
    this.#retryTimer = setTimeout(() => void this.#dial(), delay);
    this.#retryTimer.unref();
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2);
  }
}

const featuresOf = (welcome: JsonObject): string[] =>
  (arrayAt(welcome, "features") ?? []).filter((name): name is string => typeof name === "string");

/** Older hubs set none. */
function limitsOf(welcome: JsonObject): Partial<RootLimits> {
  const said = objectAt(welcome, "limits");
  const [agentLineBytes, lanePromptsMax] = [numberAt(said, "agentLineBytes"), numberAt(said, "lanePromptsMax")];
  const interactionTimeoutMs = numberAt(said, "interactionTimeoutMs");
  return {
    ...(agentLineBytes !== undefined && { agentLineBytes }),
    ...(lanePromptsMax !== undefined && { lanePromptsMax }),
    ...(interactionTimeoutMs !== undefined && { interactionTimeoutMs }),
  };
}
