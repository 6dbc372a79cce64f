/** One mDNS socket per interface, kept in line with the interfaces there are: networks come, go and change their address. */
import type { DnsRecord, MdnsNetwork, MdnsSocket, NetworkInterface, Question } from "./ports.ts";
import type { InterfaceFailure } from "./state.ts";

interface Entry {
  readonly on: NetworkInterface;
  readonly socket: MdnsSocket;
  failure: InterfaceFailure | undefined;
}

/** More interfaces than this are containers and virtual machines; each costs a socket. */
const INTERFACES_MAX = 16;

const keyOf = (on: NetworkInterface): string => `${on.name} ${on.address} ${on.addresses.join(" ")}`;

export class InterfaceSockets {
  readonly #network: MdnsNetwork;
  readonly #onResponse: (records: readonly DnsRecord[]) => void;
  readonly #entries = new Map<string, Entry>();

  constructor(network: MdnsNetwork, onResponse: (records: readonly DnsRecord[]) => void) {
    this.#network = network;
    this.#onResponse = onResponse;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  get failures(): InterfaceFailure[] {
    return [...this.#entries.values()].flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  }

  /** Interfaces that work. */
  get working(): NetworkInterface[] {
    return [...this.#entries.values()].filter(({ failure }) => failure === undefined).map(({ on }) => on);
  }

  /** Opens and closes until the sockets are those of the interfaces that `isWanted`. A socket that failed is tried again. True when any changed. */
  sync(isWanted: (on: NetworkInterface) => boolean): boolean {
    const wanted = new Map(
      this.#network
        .interfaces()
        .filter(isWanted)
        .slice(0, INTERFACES_MAX)
        .map((on) => [keyOf(on), on]),
    );
    let hasChanged = false;
    for (const [key, entry] of this.#entries) {
      if (wanted.has(key) && entry.failure === undefined) continue;
      this.#entries.delete(key);
      void entry.socket.close();
      hasChanged = true;
    }
    for (const [key, on] of wanted) {
      if (this.#entries.has(key)) continue;
      this.#open(key, on);
      hasChanged = true;
    }
    return hasChanged;
  }

  answer(recordsFor: (on: NetworkInterface) => readonly DnsRecord[]): void {
    for (const { on, socket } of this.#entries.values()) socket.answer(recordsFor(on));
  }

  /** On every interface; an interface that cannot send is marked as failed. Never rejects. */
  announce(recordsFor: (on: NetworkInterface) => readonly DnsRecord[]): Promise<void> {
    return this.#each((entry) => entry.socket.announce(recordsFor(entry.on)));
  }

  query(questions: readonly Question[]): Promise<void> {
    return this.#each((entry) => entry.socket.query(questions));
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(entries.map((entry) => entry.socket.close()));
  }

  async #each(act: (entry: Entry) => Promise<void>): Promise<void> {
    await Promise.all(
      [...this.#entries.values()].map((entry) => act(entry).catch((error: unknown) => fail(entry, error))),
    );
  }

  #open(key: string, on: NetworkInterface): void {
    // An error may come before `open` has returned the socket.
    let early: unknown;
    let entry: Entry | undefined;
    const socket = this.#network.open(on, {
      onResponse: (records) => this.#onResponse(records),
      onError: (error) => {
        if (entry === undefined) early = error;
        else fail(entry, error);
      },
    });
    entry = { on, socket, failure: undefined };
    if (early !== undefined) fail(entry, early);
    this.#entries.set(key, entry);
  }
}

function fail(entry: Entry, error: unknown): void {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
  entry.failure = { interface: entry.on.name, address: entry.on.address, code };
}
