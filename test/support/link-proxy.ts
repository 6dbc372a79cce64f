/** Stands where a bridge looks for its hub's link, or a phone for its port, and passes it on: cut, held up, opened again by a test. */
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";

export class LinkProxy {
  readonly #server: Server;
  readonly #target: NetConnectOpts;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** New links are refused while it is cut. */
  #isCut = false;
  cuts = 0;

  /** A socket's path, or a port of this machine. */
  constructor(target: string | number) {
    this.#target = typeof target === "string" ? { path: target } : { port: target, host: "127.0.0.1" };
    this.#server = createServer({ pauseOnConnect: true }, (near) => this.#onLink(near));
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve) => this.#server.listen(path, resolve));
  }

  /** On a port nobody has. */
  listenOnPort(): Promise<number> {
    return new Promise((resolve) =>
      this.#server.listen(0, "127.0.0.1", () => resolve((this.#server.address() as AddressInfo).port)),
    );
  }

  /** Both sides see the end of the link. */
  cut(): void {
    this.#isCut = true;
    this.cuts += 1;
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.#pairs.clear();
  }

  open(): void {
    this.#isCut = false;
  }

  /** Nothing moves, and nobody is told. */
  hold(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  release(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  close(): Promise<void> {
    this.cut();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #onLink(near: Socket): void {
    near.on("error", () => undefined);
    if (this.#isCut) return void near.destroy();
    const far = connect(this.#target);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    far.on("error", () => undefined);
    near.on("data", (chunk: Buffer) => void far.write(chunk));
    far.on("data", (chunk: Buffer) => void near.write(chunk));
    for (const socket of pair) {
      socket.on("close", () => {
        for (const each of pair) each.destroy();
        this.#pairs.delete(pair);
      });
    }
    near.resume();
  }
}
