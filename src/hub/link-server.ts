/** Listens for bridges on `run/link.sock` and welcomes those that speak this protocol (contract §7). */
import { chmod, unlink } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { type Frame, failure, paramsOf, result } from "../protocol/envelope.ts";
import { hubError, RPC } from "../protocol/errors.ts";
import { asJson, type JsonObject } from "../protocol/json.ts";
import { type BridgeLimits, HUB_LINK_FEATURES, LINK, LINK_PROTOCOL, type LinkHello } from "../protocol/link.ts";
import { ndjsonTransport } from "../transport/ndjson.ts";
import type { Transport } from "../transport/transport.ts";
import { readHello } from "./link-hello.ts";

export interface LinkServerHandlers {
  /** A bridge said hello. The answer is what the hub holds of it; frames follow under the returned handler. */
  onBridge(hello: LinkHello, link: Transport): LinkSession;
}

export interface LinkSession {
  readonly acked: JsonObject;
  /** The welcome is on its way: the link may be used. */
  onOpen(): void;
  onFrame(frame: Frame): void;
  onClose(): void;
}

/** What stands in every welcome. */
export interface LinkWelcomeOptions {
  readonly hubVersion: string;
  featuresFor(bridgeVersion: string): readonly string[];
  readonly limits: BridgeLimits;
}

const HELLO_MS = 5000;

export class LinkServer {
  readonly #path: string;
  readonly #handlers: LinkServerHandlers;
  readonly #welcome: LinkWelcomeOptions;
  readonly #links = new Set<Transport>();
  #server: Server | undefined;

  constructor(path: string, welcome: LinkWelcomeOptions, handlers: LinkServerHandlers) {
    this.#path = path;
    this.#welcome = welcome;
    this.#handlers = handlers;
  }

  /** Listens; a socket file left by a dead hub is replaced (the caller holds the lock). */
  async listen(): Promise<void> {
    await unlink(this.#path).catch(() => undefined);
    const server = createServer((socket) => this.#onSocket(socket));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#path, () => resolve());
    });
    await chmod(this.#path, 0o600);
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.close({ reason: "hub-stops" });
    const server = this.#server;
    if (server === undefined) return;
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  #onSocket(socket: Socket): void {
    const link = ndjsonTransport(socket, socket);
    this.#links.add(link);
    let session: LinkSession | undefined;
    const deadline = setTimeout(() => {
      if (session === undefined) link.close({ reason: "no-hello" });
    }, HELLO_MS);
    link.start({
      onFrame: (frame) => {
        if (session !== undefined) return session.onFrame(frame);
        session = this.#onHello(frame, link);
        return undefined;
      },
      onJunk: () => link.close({ reason: "junk" }),
      onClose: () => {
        clearTimeout(deadline);
        this.#links.delete(link);
        session?.onClose();
      },
    });
  }

  #onHello(frame: Frame, link: Transport): LinkSession | undefined {
    if (frame.kind !== "request" || frame.msg.method !== LINK.hello) {
      link.close({ reason: "no-hello" });
      return undefined;
    }
    const hello = readHello(paramsOf(frame.msg));
    if (typeof hello === "string") {
      link.send(JSON.stringify(failure(frame.msg.id, hubError(RPC.invalidParams, "forbidden-parameter", hello))));
      link.close({ reason: "bad-hello" });
      return undefined;
    }
    const session = this.#handlers.onBridge(hello, link);
    const { hubVersion, featuresFor, limits } = this.#welcome;
    const welcome: JsonObject = {
      protocol: LINK_PROTOCOL,
      features: [...HUB_LINK_FEATURES, ...featuresFor(hello.bridgeVersion)],
      hubVersion,
      acked: session.acked,
      limits: asJson(limits),
    };
    link.send(JSON.stringify(result(frame.msg.id, welcome)));
    session.onOpen();
    return session;
  }
}
