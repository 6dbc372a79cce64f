/** Rights that end or change while connections are open (contract §2, §3): what is open follows at once. */
import { CLOSE } from "../protocol/close-codes.ts";
import type { Scope } from "../protocol/scopes.ts";
import type { EventStreams } from "./event-streams.ts";
import type { Registry } from "./registry.ts";
import type { Sockets } from "./sockets.ts";

const NONE: ReadonlySet<Scope> = new Set();

export class Rights {
  readonly #sockets: Sockets;
  readonly #registry: Registry;
  readonly #streams: EventStreams;

  constructor(sockets: Sockets, registry: Registry, streams: EventStreams) {
    this.#sockets = sockets;
    this.#registry = registry;
    this.#streams = streams;
  }

  /** Its sockets and event streams end; what it asked for and nobody has done yet is not done. */
  onRevoked(deviceId: string): void {
    for (const instance of this.#registry.list()) instance.mirror.onRightsLost(deviceId, NONE);
    this.#sockets.closeDevice(deviceId);
    this.#streams.closeDevice(deviceId);
  }

  /**
   * Its sockets go on with the rights it has now. Prompts without a name could not be taken back, and who may prompt now
   * needs a socket that takes larger messages (`frameBytesMax`): then it dials again.
   */
  onChanged(deviceId: string, scopes: ReadonlySet<Scope>): void {
    if (!scopes.has("sessions:read")) return this.onRevoked(deviceId);
    for (const { mirror } of this.#registry.list()) mirror.onRightsLost(deviceId, scopes);
    for (const socket of this.#sockets.ofDevice(deviceId)) {
      const { connection } = socket;
      const isAnother = connection.may("sessions:prompt") !== scopes.has("sessions:prompt");
      connection.scopes = scopes;
      for (const { bound, mirror } of this.#registry.list())
        if (connection.isHubWide || bound.has(connection.id)) mirror.onScopesChanged(connection, scopes);
      if (isAnother) socket.close(CLOSE.goingAway);
    }
  }
}
