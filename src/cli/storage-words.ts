/** A store's health for people: `acp-hub status` and `doctor` say the same. */
import type { StorageFault, StorageState } from "../hub/storage-state.ts";
import { ago } from "./words.ts";

export interface StorageWords {
  /** Absent when all is written. */
  readonly fault?: { readonly text: string; readonly fix: string };
  /** Absent when nothing was lost. */
  readonly lost?: string;
}

interface Words {
  readonly what: string;
  readonly fix: string;
}

/** Codes of our own faults, and of a newer hub: the log knows more than the code. */
const UNKNOWN: Words = {
  what: "the database takes nothing, and why only the log knows",
  fix: "look for the store fault in hub.log (acp-hub logs) and report it; restarting the hub may help",
};
const WORDS: Partial<Record<StorageFault, Words>> = {
  io: {
    what: "the disk reports faults",
    fix: "look at the disk, and at hub.log (acp-hub logs)",
  },
  "cannot-open": {
    what: "the database's files cannot be opened",
    fix: "make its directory and files yours to read and write; hub.log (acp-hub logs) has the error",
  },
  "disk-full": { what: "the disk is full", fix: "free some space; what waits is written by itself" },
  locked: { what: "another program holds the database", fix: "end it; what waits is written by itself" },
  "read-only": { what: "the database is read-only", fix: "make its directory and files writable for you" },
  damaged: {
    what: "the database is damaged",
    fix: "restart the hub (acp-hub stop): it moves the file aside and begins a new one",
  },
};

export function storageWords({ fault, waitingBytes, lost }: StorageState, now: number): StorageWords {
  const waiting = waitingBytes > 0 ? `; ${Math.ceil(waitingBytes / 1024)} KiB of history wait in memory` : "";
  const count = [
    ...(lost.events > 0 ? [`${lost.events} event(s) of the history`] : []),
    ...(lost.records > 0 ? [`${lost.records} record(s) of prompts, answers, sessions or the audit`] : []),
  ];
  const { what, fix } = (fault && WORDS[fault.code]) ?? UNKNOWN;
  return {
    ...(fault !== undefined && {
      fault: {
        text: `the history is not being written, first noticed ${ago(fault.since, now)}: ${what}${waiting}`,
        fix,
      },
    }),
    ...(count.length > 0 && { lost: `lost while nothing could be written: ${count.join(" and ")}` }),
  };
}
