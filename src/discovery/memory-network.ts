/** The twin of `bonjour-network.ts`: links in memory. What one socket of a link sends, every socket of the link hears, itself included. */
import {
  type DnsRecord,
  isSameName,
  type MdnsHandlers,
  type MdnsNetwork,
  type MdnsSocket,
  type NetworkInterface,
  type Question,
} from "./ports.ts";

interface Listener {
  readonly handlers: MdnsHandlers;
  records: readonly DnsRecord[];
}

/** One Ethernet segment. */
export class MemoryLink {
  readonly #listeners = new Set<Listener>();
  /** Every record announced or answered so far, in order. */
  readonly heard: DnsRecord[] = [];

  get socketCount(): number {
    return this.#listeners.size;
  }

  join(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  send(records: readonly DnsRecord[]): void {
    this.heard.push(...records);
    for (const { handlers } of [...this.#listeners]) handlers.onResponse(records);
  }

  ask(questions: readonly Question[]): void {
    for (const { records } of [...this.#listeners]) {
      const answers = records.filter((record) => questions.some((question) => fits(record, question)));
      if (answers.length > 0) this.send([...answers, ...records.filter((record) => !answers.includes(record))]);
    }
  }
}

const fits = (record: DnsRecord, { name, type }: Question): boolean =>
  (type === "ANY" || type === record.type) && isSameName(record.name, name);

/** A machine's view: its interfaces, each on a link. Change `list` to plug and unplug. */
export class MemoryNetwork implements MdnsNetwork {
  list: { on: NetworkInterface; link: MemoryLink; error?: Error }[] = [];

  interfaces(): readonly NetworkInterface[] {
    return this.list.map((entry) => entry.on);
  }

  open(on: NetworkInterface, handlers: MdnsHandlers): MdnsSocket {
    const entry = this.list.find((each) => each.on.name === on.name);
    const error = entry === undefined ? new Error("no such interface") : entry.error;
    if (entry === undefined || error !== undefined) {
      const reason = error ?? new Error("no such interface");
      handlers.onError(reason);
      const fail = (): Promise<void> => Promise.reject(reason);
      return { answer: () => undefined, announce: fail, query: fail, close: () => Promise.resolve() };
    }
    const listener: Listener = { handlers, records: [] };
    const leave = entry.link.join(listener);
    return {
      answer: (records) => {
        listener.records = records;
      },
      announce: (records) => Promise.resolve(entry.link.send(records)),
      query: (questions) => Promise.resolve(entry.link.ask(questions)),
      close: () => Promise.resolve(leave()),
    };
  }
}
