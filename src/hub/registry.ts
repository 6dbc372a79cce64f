/**
 * The instances of this machine: they come and go with their links (L3, L5). A link that drops while its process lives is waited
 * for; a dead process is gone at once.
 */
import type { Frame } from "../protocol/envelope.ts";
import type { InstanceId } from "../protocol/ids.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { LinkHello } from "../protocol/link.ts";
import type { DurableMark } from "../store/ports.ts";
import type { Scheduler } from "../store/scheduler.ts";
import type { Transport } from "../transport/transport.ts";
import { Instance, type InstancePorts } from "./instance.ts";
import type { LinkServerHandlers, LinkSession } from "./link-server.ts";

export interface RegistryEvents {
  onAdded(instance: Instance): void;
  onChanged(instance: Instance): void;
  onRemoved(instance: Instance): void;
  /** A bridge brings the predecessor's shared token. */
  onRemoteToken(token: string): void;
}

/** What the registry asks of the machine. */
export interface RegistryPorts {
  /** Its timers keep no process alive. */
  readonly scheduler: Scheduler;
  isAlive(pid: number): boolean;
}

/** How long clients of an unreachable instance are kept (L5). */
const UNREACHABLE_MS = 10_000;
/** How often a linked bridge is asked for a sign of life, and how long it may owe one (L5). */
const BEAT_MS = 5000;
const UNRESPONSIVE_MS = 15_000;
/** How soon the process of an unreachable instance is looked at: one that is just ending is gone at once; then ever less often. */
const FIRST_LOOK_MS = 20;
const LOOK_MS = 500;

export class Registry implements LinkServerHandlers {
  readonly #instances = new Map<InstanceId, Instance>();
  readonly #ports: InstancePorts;
  readonly #events: RegistryEvents;
  readonly #machine: RegistryPorts;
  /** Cancels the next look at the process of an unreachable instance. */
  readonly #waiting = new Map<Instance, () => void>();
  /** When the ping that is not answered yet went out. */
  readonly #pinged = new Map<Instance, number>();
  #stopBeating: () => void;

  constructor(ports: InstancePorts, events: RegistryEvents, machine: RegistryPorts) {
    this.#ports = ports;
    this.#events = events;
    this.#machine = machine;
    this.#stopBeating = this.#nextBeat();
  }

  /** By start time, oldest first. */
  list(): Instance[] {
    return [...this.#instances.values()].sort((a, b) => a.hello.startedAt - b.hello.startedAt);
  }

  get(id: string): Instance | undefined {
    return this.#instances.get(id as InstanceId);
  }

  onBridge(said: LinkHello, link: Transport): LinkSession {
    const { remoteToken, ...hello } = said;
    if (remoteToken !== undefined) this.#events.onRemoteToken(remoteToken);
    const known = this.get(hello.instanceId);
    const instance = known ?? new Instance(hello, this.#ports);
    this.#stopWaiting(instance);
    // A second link of the same bridge: the old one is dead, whatever the kernel says.
    instance.link?.close({ reason: "superseded" });
    if (known !== undefined && instance.mirror.isLinkUp) instance.mirror.onLinkDown();
    instance.hello = hello;
    instance.link = link;
    instance.state = "up";
    return {
      acked: ackedOf(instance, hello),
      onOpen: () => {
        this.#instances.set(instance.id, instance);
        instance.mirror.onLinkUp();
        if (known === undefined) this.#events.onAdded(instance);
        else this.#events.onChanged(instance);
      },
      onFrame: (frame: Frame) => {
        if (instance.link === link) instance.mirror.onLink(frame);
      },
      onClose: () => {
        if (instance.link === link) this.#onLinkLost(instance);
      },
    };
  }

  /** Events that are on disk now: their bridges may coalesce what is older (S3). */
  acknowledge(marks: readonly DurableMark[]): void {
    for (const instance of this.#instances.values()) {
      const acked: Record<string, number> = {};
      for (const mark of marks) {
        const session = instance.record?.sessionOf(mark.key);
        if (session !== undefined) acked[session] = mark.last;
      }
      if (Object.keys(acked).length > 0) instance.mirror.acknowledge(acked);
    }
  }

  /** Ends everything: the hub stops. */
  dispose(): void {
    this.#stopBeating();
    for (const instance of this.#instances.values()) {
      this.#stopWaiting(instance);
      instance.dispose();
    }
    this.#instances.clear();
  }

  #nextBeat(): () => void {
    return this.#machine.scheduler.after(BEAT_MS, () => {
      this.#stopBeating = this.#nextBeat();
      this.#beat(this.#machine.scheduler.monotonic());
    });
  }

  /** L5: a busy or stopped bridge is shown as such and never evicted; its socket says when it is gone. */
  #beat(now: number): void {
    for (const instance of this.#instances.values()) {
      if (!instance.mirror.isLinkUp) continue;
      const sentAt = this.#pinged.get(instance);
      if (sentAt === undefined) this.#ping(instance, now);
      else if (now - sentAt >= UNRESPONSIVE_MS && instance.state === "up") {
        instance.state = "unresponsive";
        this.#events.onChanged(instance);
      }
    }
  }

  #ping(instance: Instance, now: number): void {
    this.#pinged.set(instance, now);
    instance.mirror.ping(() => {
      this.#pinged.delete(instance);
      if (instance.state !== "unresponsive") return;
      instance.state = "up";
      this.#events.onChanged(instance);
    });
  }

  #onLinkLost(instance: Instance): void {
    instance.link = undefined;
    this.#pinged.delete(instance);
    instance.mirror.onLinkDown();
    if (!this.#machine.isAlive(instance.hello.pid)) return this.#remove(instance);
    instance.state = "unreachable";
    this.#events.onChanged(instance);
    this.#look(instance, this.#machine.scheduler.monotonic() + UNREACHABLE_MS, FIRST_LOOK_MS);
    return undefined;
  }

  #look(instance: Instance, deadline: number, afterMs: number): void {
    const { scheduler, isAlive } = this.#machine;
    const cancel = scheduler.after(Math.min(afterMs, deadline - scheduler.monotonic()), () => {
      if (!isAlive(instance.hello.pid) || scheduler.monotonic() >= deadline) this.#remove(instance);
      else this.#look(instance, deadline, Math.min(LOOK_MS, afterMs * 2));
    });
    this.#waiting.set(instance, cancel);
  }

  #stopWaiting(instance: Instance): void {
    this.#waiting.get(instance)?.();
    this.#waiting.delete(instance);
  }

  #remove(instance: Instance): void {
    this.#stopWaiting(instance);
    this.#pinged.delete(instance);
    if (!this.#instances.delete(instance.id)) return;
    instance.mirror.onInstanceGone();
    instance.dispose();
    this.#events.onRemoved(instance);
  }
}

/** What this process holds, and for what it does not know, what an earlier one left on disk. */
function ackedOf(instance: Instance, hello: LinkHello): JsonObject {
  return { ...instance.record?.acked(hello), ...instance.mirror.acked() };
}
