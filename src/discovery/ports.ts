/** What discovery needs of the network and of time. `bonjour-network.ts` is the real one, `memory-network.ts` its twin. */

export type RecordType = "PTR" | "SRV" | "TXT" | "A" | "AAAA";

interface RecordBase {
  readonly name: string;
  /** Seconds; 0 takes the record back. */
  readonly ttl: number;
  /** True where one owner holds the name: caches replace what they had. */
  readonly flush?: boolean;
}

export interface PtrRecord extends RecordBase {
  readonly type: "PTR";
  readonly data: string;
}
export interface SrvRecord extends RecordBase {
  readonly type: "SRV";
  readonly data: { readonly port: number; readonly target: string };
}
export interface TxtRecord extends RecordBase {
  readonly type: "TXT";
  readonly data: readonly string[];
}
export interface AddressRecord extends RecordBase {
  readonly type: "A" | "AAAA";
  readonly data: string;
}
export type DnsRecord = PtrRecord | SrvRecord | TxtRecord | AddressRecord;

export interface Question {
  readonly name: string;
  readonly type: RecordType | "ANY";
}

/** A network interface that can carry multicast, by its first IPv4 address. */
export interface NetworkInterface {
  readonly name: string;
  readonly address: string;
  /** All its addresses that others on the link can dial, IPv4 and global IPv6. */
  readonly addresses: readonly string[];
}

export interface MdnsHandlers {
  /** Every record of a response, from whichever section. Our own come back too. */
  onResponse(records: readonly DnsRecord[]): void;
  /** A socket that cannot be used. It may come several times. */
  onError(error: Error): void;
}

/** mDNS on one interface. */
export interface MdnsSocket {
  /** From now on queries are answered out of these, and of no others. */
  answer(records: readonly DnsRecord[]): void;
  /** Sends them unasked. Rejects when they could not be sent. */
  announce(records: readonly DnsRecord[]): Promise<void>;
  query(questions: readonly Question[]): Promise<void>;
  /** Idempotent; resolves when the socket is closed. Sends nothing. */
  close(): Promise<void>;
}

export interface MdnsNetwork {
  interfaces(): readonly NetworkInterface[];
  /** Never throws: a socket that does not open says so through `onError`. */
  open(on: NetworkInterface, handlers: MdnsHandlers): MdnsSocket;
}

export interface Clock {
  now(): number;
  /** Returns what cancels it. */
  after(ms: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** DNS names differ by more than case. */
export const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
