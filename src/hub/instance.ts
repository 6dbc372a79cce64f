/** One running bridge as the hub holds it: what it said of itself, its mirror, its link. */

import { NamedTimers } from "../bridge/named-timers.ts";
import type { Limits } from "../config/config.ts";
import type { ParamsFilter } from "../core/mirror/gate.ts";
import { Mirror } from "../core/mirror/mirror.ts";
import type { MirrorHistory, MirrorObservation } from "../core/mirror/ports.ts";
import type { CloseCode } from "../protocol/close-codes.ts";
import { type ConnectionId, type InstanceId, instanceId } from "../protocol/ids.ts";
import type { LinkHello } from "../protocol/link.ts";
import type { Transport } from "../transport/transport.ts";
import type { InstanceRecord } from "./record.ts";
import { wsEncoder } from "./socket-sink.ts";

/** `up`: linked. `unreachable`: the link is lost, the process lives. `unresponsive`: linked, but it answers no ping (L5). */
export type InstanceState = "up" | "unreachable" | "unresponsive";

export interface InstancePorts {
  closeConnection(connection: ConnectionId, code: CloseCode): void;
  observe(instance: Instance, observation: MirrorObservation): void;
  /** Judges what remote clients want their sessions opened with (contract §2). */
  paramsFilter(instance: Instance): ParamsFilter;
  readonly hubVersion: string;
  readonly limits: Limits;
  readonly history: MirrorHistory<Buffer> | undefined;
  /** What outlives this process; undefined: nothing does. */
  recordOf(hello: LinkHello): InstanceRecord | undefined;
}

export class Instance {
  readonly id: InstanceId;
  hello: LinkHello;
  state: InstanceState = "up";
  readonly mirror: Mirror<Buffer>;
  readonly record: InstanceRecord | undefined;
  link: Transport | undefined;
  /** Connections that are bound to it: they end with it (4404). */
  readonly bound: Set<ConnectionId> = new Set();
  readonly #timers: NamedTimers;
  #isFlushing = false;

  constructor(hello: LinkHello, ports: InstancePorts) {
    this.id = instanceId(hello.instanceId);
    this.hello = hello;
    this.record = ports.recordOf(hello);
    this.#timers = new NamedTimers((name) => this.mirror.onTimer(name));
    this.mirror = new Mirror<Buffer>(
      {
        toLink: (text) => void this.link?.send(text),
        startTimer: (name, ms) => this.#timers.start(name, ms),
        cancelTimer: (name) => this.#timers.cancel(name),
        requestFlush: () => this.#requestFlush(),
        close: (connection, code) => ports.closeConnection(connection, code),
        observe: (observation) => ports.observe(this, observation),
        record: this.record,
      },
      {
        instanceId: this.id,
        hubVersion: ports.hubVersion,
        journalBytes: ports.limits.journalBytes,
        watchAfterMs: 1000,
        initializeMs: ports.limits.initializeMs,
        pingMs: ports.limits.pingMs,
        askAfterLoadMs: 300,
      },
      wsEncoder,
      ports.paramsFilter(this),
      ports.history,
    );
  }

  dispose(): void {
    this.#timers.clear();
  }

  /** Updates of one tick are written together. */
  #requestFlush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.mirror.flush();
    });
  }
}
