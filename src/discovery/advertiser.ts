/**
 * Advertises one hub: asks whether the name is free, announces, defends or gives up the name, follows the interfaces, and says
 * goodbye. Only `Clock` and `MdnsNetwork` reach outside.
 */
import { advertHost, type HubAdvert, serviceLabel } from "./advert.ts";
import { InterfaceSockets } from "./interface-sockets.ts";
import { type Clock, type DnsRecord, isSameName, type MdnsNetwork, type NetworkInterface } from "./ports.ts";
import { fullName, probeQuestions, recordsOf, takenBack } from "./records.ts";
import type { DiscoveryState } from "./state.ts";

export interface AdvertiserOptions {
  readonly advert: HubAdvert;
  readonly network: MdnsNetwork;
  readonly clock: Clock;
  /** Whether the hub can be dialled at this address. */
  readonly listensOn: (address: string) => boolean;
  readonly onState?: (state: DiscoveryState) => void;
}

const POLL_MS = 5000;
const PROBES = 3;
const PROBE_MS = 250;
/** Multicast is lost at times: a second announcement (RFC 6762 §8.3). */
const AGAIN_MS = 1000;
/** Somebody who claims the name this often will not stop. */
const DEFENCES_MAX = 3;
const SUFFIX_MAX = 99;

export class Advertiser {
  readonly #options: AdvertiserOptions;
  readonly #sockets: InterfaceSockets;
  readonly #label: string;
  #suffix = 1;
  #phase: "idle" | "probing" | "announced" | "stopped" = "idle";
  #defences = 0;
  #cancelStep: () => void = () => undefined;
  #cancelPoll: () => void = () => undefined;
  #lastState: DiscoveryState | undefined;

  constructor(options: AdvertiserOptions) {
    this.#options = options;
    this.#label = serviceLabel(options.advert.name);
    this.#sockets = new InterfaceSockets(options.network, (records) => this.#onRecords(records));
  }

  get state(): DiscoveryState {
    if (this.#phase === "idle" || this.#phase === "stopped") return { kind: "off", reason: "stopped" };
    if (this.#sockets.isEmpty) return { kind: "no-network" };
    const { failures, working } = this.#sockets;
    if (working.length === 0) return { kind: "failed", failures };
    const name = this.#name;
    if (this.#phase === "probing") return { kind: "probing", name };
    const addresses = working.flatMap((on) => this.#reachable(on));
    return { kind: "advertised", name, ...(this.#suffix > 1 && { renamedFrom: this.#label }), addresses, failures };
  }

  start(): void {
    if (this.#phase !== "idle") return;
    this.#sockets.sync((on) => this.#reachable(on).length > 0);
    this.#probe();
    this.#cancelPoll = this.#options.clock.after(POLL_MS, () => this.#poll());
  }

  /** Says goodbye and closes. Idempotent. */
  async stop(): Promise<void> {
    const wasAnnounced = this.#phase === "announced";
    this.#phase = "stopped";
    this.#cancelStep();
    this.#cancelPoll();
    this.#sockets.answer(() => []);
    if (wasAnnounced) await this.#sockets.announce((on) => takenBack(this.#recordsFor(on)));
    await this.#sockets.close();
    this.#tell();
  }

  get #name(): string {
    return this.#suffix === 1 ? this.#label : `${this.#label} (${this.#suffix})`;
  }

  #reachable(on: NetworkInterface): string[] {
    return on.addresses.filter((address) => this.#options.listensOn(address));
  }

  #recordsFor(on: NetworkInterface): DnsRecord[] {
    return recordsOf(this.#options.advert, this.#name, this.#reachable(on));
  }

  #probe(round = 1): void {
    this.#phase = "probing";
    this.#defences = 0;
    if (round === 1) this.#tell();
    void this.#sockets.query(probeQuestions(this.#name)).then(() => this.#tell());
    const next = (): void => (round < PROBES ? this.#probe(round + 1) : this.#announce());
    this.#step(PROBE_MS, next);
  }

  #announce(isAgain = false): void {
    this.#phase = "announced";
    this.#sockets.answer((on) => this.#recordsFor(on));
    void this.#sockets.announce((on) => this.#recordsFor(on)).then(() => this.#tell());
    if (isAgain) this.#cancelStep();
    else this.#step(AGAIN_MS, () => this.#announce(true));
  }

  #poll(): void {
    if (this.#sockets.sync((on) => this.#reachable(on).length > 0) && this.#phase === "announced") this.#announce();
    this.#tell();
    this.#cancelPoll = this.#options.clock.after(POLL_MS, () => this.#poll());
  }

  /** Someone speaks of our name: ourselves, through any interface, or another who has it. */
  #onRecords(records: readonly DnsRecord[]): void {
    const other = records.find(
      (record) =>
        record.type === "SRV" &&
        record.ttl > 0 &&
        isSameName(record.name, fullName(this.#name)) &&
        !isSameName(record.data.target, this.#host),
    );
    if (other?.type !== "SRV") return;
    if (this.#phase === "probing") this.#rename();
    else if (this.#phase === "announced") this.#contest(other.data.target);
  }

  /** Two hubs took the name at the same time: both see the same two targets, so exactly one goes. */
  #contest(target: string): void {
    this.#defences += 1;
    const isOurs = this.#host > target.toLowerCase() && this.#defences <= DEFENCES_MAX;
    if (isOurs) {
      this.#announce();
      return;
    }
    void this.#sockets.announce((on) => takenBack(this.#recordsFor(on)).filter((record) => record.type === "PTR"));
    this.#sockets.answer(() => []);
    this.#rename();
  }

  #rename(): void {
    this.#suffix = this.#suffix >= SUFFIX_MAX ? 1 : this.#suffix + 1;
    this.#probe();
  }

  get #host(): string {
    return advertHost(this.#options.advert.id);
  }

  #step(ms: number, task: () => void): void {
    this.#cancelStep();
    this.#cancelStep = this.#options.clock.after(ms, task);
  }

  #tell(): void {
    const { state } = this;
    if (JSON.stringify(state) === JSON.stringify(this.#lastState)) return;
    this.#lastState = state;
    this.#options.onState?.(state);
  }
}
