/** The host, loaded with the first request it has to serve: an editor's start must not pay for it, and most never need it. */
import type { HostRequest, HostSession } from "../../core/root/ports.ts";
import type { RpcId } from "../../protocol/envelope.ts";
import { RPC } from "../../protocol/errors.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { Host, HostEvents } from "./host.ts";

export class LazyHost {
  readonly #events: HostEvents;
  #host: Promise<Host> | undefined;

  constructor(events: HostEvents) {
    this.#events = events;
  }

  serve(request: HostRequest, session: HostSession): void {
    this.#host ??= import("./host.ts").then(({ Host: Loaded }) => new Loaded(this.#events));
    this.#host.then(
      (host) => host.serve(request, session),
      // An installation replaced under a running bridge: it still answers.
      () => {
        const error = { code: RPC.internalError, message: "The bridge cannot serve files and terminals any more" };
        this.#events.answer(request.id, { error });
      },
    );
  }

  cancel(id: RpcId): void {
    this.#then((host) => host.cancel(id));
  }

  release(session: SessionId): void {
    this.#then((host) => host.release(session));
  }

  /** Resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    const host = await this.#host?.catch(() => undefined);
    await host?.stop();
  }

  #then(use: (host: Host) => void): void {
    this.#host?.then(use, () => undefined);
  }
}
