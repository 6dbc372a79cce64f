/**
 * mDNS over bonjour-service: its socket and its answering of queries, one of each per interface. Its own publishing is not used:
 * it announces through one interface only, claims the machine's host name with the addresses of every interface, prints a name
 * conflict on stdout and gives up.
 */
import { networkInterfaces } from "node:os";
import { Bonjour, type ServiceConfig } from "bonjour-service";
import type { DnsRecord, MdnsHandlers, MdnsNetwork, MdnsSocket, NetworkInterface, Question } from "./ports.ts";

/** What bonjour-service hands through to its socket. */
interface SocketOptions extends Partial<ServiceConfig> {
  /** Sends and joins here. */
  readonly interface: string;
  /** A socket bound to an interface's own address hears no multicast on Linux. */
  readonly bind: string;
}

/** bonjour-service types its socket as `any`; this is the part that is used (multicast-dns 7). */
interface Multicast {
  on(event: "response", listener: (packet: ResponsePacket) => void): void;
  on(event: "error" | "warning", listener: (error: Error & { syscall?: string }) => void): void;
  respond(answers: readonly DnsRecord[], done: (error?: Error | null) => void): void;
  query(questions: readonly Question[], done: (error?: Error | null) => void): void;
  destroy(done: () => void): void;
}

interface ResponsePacket {
  readonly answers: readonly RawRecord[];
  readonly additionals: readonly RawRecord[];
}

interface RawRecord {
  readonly type: string;
  readonly name: string;
  readonly ttl?: number;
  readonly data: unknown;
}

/** A response that says more than this is noise or an attack; the rest of it is not read. */
const RECORDS_MAX = 256;

export const bonjourNetwork: MdnsNetwork = { interfaces: multicastInterfaces, open: openBonjour };

function multicastInterfaces(): NetworkInterface[] {
  return Object.entries(networkInterfaces()).flatMap(([name, infos = []]) => {
    const usable = infos.filter((info) => !info.internal && !/^fe80:/i.test(info.address));
    const first = usable.find((info) => info.family === "IPv4");
    return first === undefined ? [] : [{ name, address: first.address, addresses: usable.map((info) => info.address) }];
  });
}

function openBonjour(on: NetworkInterface, handlers: MdnsHandlers): MdnsSocket {
  const options: SocketOptions = { interface: on.address, bind: "0.0.0.0" };
  const bonjour = new Bonjour(options, (error: Error) => handlers.onError(error));
  const server = bonjour["server"];
  const mdns: Multicast = server.mdns;
  mdns.on("error", (error) => handlers.onError(error));
  // A warning is either a packet that could not be read, which is the sender's fault, or a failed system call.
  mdns.on("warning", (error) => {
    if (error.syscall !== undefined) handlers.onError(error);
  });
  mdns.on("response", (packet) => {
    const records = [...packet.answers, ...packet.additionals].slice(0, RECORDS_MAX);
    handlers.onResponse(records.flatMap(readRecord));
  });
  return new BonjourSocket(server, mdns);
}

class BonjourSocket implements MdnsSocket {
  readonly #server: Bonjour["server"];
  readonly #mdns: Multicast;
  #answered: readonly DnsRecord[] = [];
  #closed: Promise<void> | undefined;

  constructor(server: Bonjour["server"], mdns: Multicast) {
    this.#server = server;
    this.#mdns = mdns;
  }

  answer(records: readonly DnsRecord[]): void {
    this.#server.unregister([...this.#answered]);
    this.#server.register([...records]);
    this.#answered = records;
  }

  announce(records: readonly DnsRecord[]): Promise<void> {
    return sent((done) => this.#mdns.respond([...records], done));
  }

  query(questions: readonly Question[]): Promise<void> {
    return sent((done) => this.#mdns.query([...questions], done));
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#mdns.destroy(resolve));
    return this.#closed;
  }
}

function sent(send: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    send((error) => (error ? reject(error) : resolve()));
  });
}

/** The parse edge: what a packet says, as records of ours. */
function readRecord(raw: RawRecord): DnsRecord[] {
  const { type, name, ttl = 0, data } = raw;
  if (type === "PTR" && typeof data === "string") return [{ type, name, ttl, data }];
  if ((type === "A" || type === "AAAA") && typeof data === "string") return [{ type, name, ttl, data }];
  if (type === "TXT") {
    const parts: unknown[] = Array.isArray(data) ? data : [data];
    return [
      { type, name, ttl, data: parts.filter((part) => Buffer.isBuffer(part)).map((part) => part.toString("utf8")) },
    ];
  }
  if (type !== "SRV" || typeof data !== "object" || data === null) return [];
  const { port, target } = data as { port?: unknown; target?: unknown };
  return typeof port === "number" && typeof target === "string" ? [{ type, name, ttl, data: { port, target } }] : [];
}
