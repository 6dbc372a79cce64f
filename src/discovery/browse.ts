/** Finds hubs on the network: asks for a while, puts the records of all answers together, and reads what is whole. */
import { type FoundHub, readFound, SERVICE_TYPE } from "./advert.ts";
import { InterfaceSockets } from "./interface-sockets.ts";
import { type Clock, type DnsRecord, isSameName, type MdnsNetwork, type Question } from "./ports.ts";
import type { InterfaceFailure } from "./state.ts";

export interface BrowseOptions {
  readonly network: MdnsNetwork;
  readonly clock: Clock;
  readonly durationMs: number;
  readonly signal?: AbortSignal;
}

export interface BrowseResult {
  /** By name. */
  readonly hubs: readonly FoundHub[];
  /** Interfaces that could not be asked; all of them: nothing can be found. */
  readonly failures: readonly InterfaceFailure[];
  /** False: no interface to ask on. */
  readonly hasNetwork: boolean;
}

const AGAIN_MS = [300, 1000, 2500] as const;
/** A flood of answers ends here; later records are not kept. */
const RECORDS_MAX = 2048;

export async function browseHubs(options: BrowseOptions): Promise<BrowseResult> {
  const { network, clock, durationMs, signal } = options;
  const cache = new RecordCache();
  const sockets = new InterfaceSockets(network, (records) => cache.take(records));
  sockets.sync(() => true);
  const ask = (): void => void sockets.query(cache.openQuestions());
  ask();
  const cancels = AGAIN_MS.filter((ms) => ms < durationMs).map((ms) => clock.after(ms, ask));
  try {
    await pause(clock, durationMs, signal);
    return { hubs: cache.hubs(), failures: sockets.failures, hasNetwork: !sockets.isEmpty };
  } finally {
    for (const cancel of cancels) cancel();
    await sockets.close();
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

class RecordCache {
  #records: DnsRecord[] = [];

  take(records: readonly DnsRecord[]): void {
    for (const record of records) {
      const isSame = (other: DnsRecord): boolean =>
        other.type === record.type &&
        isSameName(other.name, record.name) &&
        JSON.stringify(other.data) === JSON.stringify(record.data);
      if (record.ttl === 0) this.#records = this.#records.filter((other) => !isSame(other));
      else if (this.#records.length < RECORDS_MAX && !this.#records.some(isSame)) this.#records.push(record);
    }
  }

  /** Who is there, and what is still missing of those who answered. */
  openQuestions(): Question[] {
    const questions: Question[] = [{ name: SERVICE_TYPE, type: "PTR" }];
    for (const name of this.#names()) {
      const server = this.#find(name, "SRV");
      if (server?.type !== "SRV") questions.push({ name, type: "SRV" });
      else if (this.#addressesOf(server.data.target).length === 0)
        questions.push({ name: server.data.target, type: "A" });
      if (this.#find(name, "TXT") === undefined) questions.push({ name, type: "TXT" });
    }
    return questions;
  }

  hubs(): FoundHub[] {
    return this.#names()
      .flatMap((name) => {
        const server = this.#find(name, "SRV");
        const text = this.#find(name, "TXT");
        if (server?.type !== "SRV" || text?.type !== "TXT") return [];
        const label = name.slice(0, -SERVICE_TYPE.length - 1);
        const { target, port } = server.data;
        const found = readFound({ label, host: target, port, addresses: this.#addressesOf(target), txt: text.data });
        return found === undefined || found.urls.length === 0 ? [] : [found];
      })
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  #names(): string[] {
    return this.#records.flatMap((record) =>
      record.type === "PTR" && isSameName(record.name, SERVICE_TYPE) && isService(record.data) ? [record.data] : [],
    );
  }

  /** The latest: an address or port may have changed while we listened. */
  #find(name: string, type: "SRV" | "TXT"): DnsRecord | undefined {
    return this.#records.findLast((record) => record.type === type && isSameName(record.name, name));
  }

  #addressesOf(host: string): string[] {
    return this.#records.flatMap((record) =>
      (record.type === "A" || record.type === "AAAA") && isSameName(record.name, host) ? [record.data] : [],
    );
  }
}

const isService = (name: string): boolean => name.toLowerCase().endsWith(`.${SERVICE_TYPE}`);
