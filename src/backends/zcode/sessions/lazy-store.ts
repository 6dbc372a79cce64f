/**
 * The file that says which backend session an ACP session id stands for. Several bridges share it: it is read afresh,
 * merged and renamed into place under a lock at every change, and a record in use never expires.
 */
import { link, mkdir, open, readdir, readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { isObject, type JsonObject, numberAt, objectAt, put, stringAt } from "../../../protocol/json.ts";
import { type Clock, pause } from "../clock.ts";
import type { Log } from "../log.ts";
import type { LazyRecord, LazyTable, SessionMap } from "./session-map.ts";

const UNUSED_KEPT_MS = 30 * 24 * 3_600_000;
const TEMPORARY_KEPT_MS = 3_600_000;
/** Only for a lock whose owner cannot be asked after: killed before it signed, or on another machine. */
const LOCK_STALE_MS = 10_000;
/** Longer than a lock can be stale, so that a record is late rather than lost. */
const LOCK_TRIES = 800;
const LOCK_STEP_MS = 15;

/** True when the lock was signed on this machine by a process that is no more. */
function isOwnerDead(owner: string): boolean {
  const [host, pid] = owner.split(" ");
  if (host !== hostname() || pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

function readRecord(value: unknown): LazyRecord | undefined {
  if (!isObject(value)) return undefined;
  const cwd = stringAt(value, "cwd");
  if (cwd === undefined || cwd === "/") return undefined;
  const zcodeSid = stringAt(value, "zcodeSid");
  const stored = objectAt(value, "modelChoice");
  const model = stringAt(stored, "model");
  const thought = stringAt(stored, "thought");
  const choice = { ...(model === undefined ? {} : { model }), ...(thought === undefined ? {} : { thought }) };
  return {
    cwd,
    createdAt: numberAt(value, "createdAt") ?? 0,
    ...(zcodeSid === undefined ? {} : { zcodeSid }),
    ...(stored === undefined ? {} : { choice }),
  };
}

function withoutExpired(table: JsonObject, now: number): JsonObject {
  const kept: JsonObject = {};
  for (const [id, value] of Object.entries(table)) {
    const record = readRecord(value);
    const isExpired = record !== undefined && record.zcodeSid === undefined && now - record.createdAt > UNUSED_KEPT_MS;
    if (!isExpired) put(kept, id, value);
  }
  return kept;
}

export class LazyStore implements SessionMap {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Log;
  #counter = 0;
  #queue: Promise<void> = Promise.resolve();

  constructor(path: string, clock: Clock, log: Log) {
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
  }

  /** All records as the file has them now. An unreadable file has none. */
  async read(): Promise<LazyTable> {
    const table = (await this.#load()) ?? {};
    const records = new Map<string, LazyRecord>();
    for (const [id, value] of Object.entries(table)) {
      const record = readRecord(value);
      if (record !== undefined) records.set(id, record);
    }
    return records;
  }

  /** Writes one record, keeping every other as the file has it. A failure is logged: a session works without its record. */
  save(id: string, record: LazyRecord): Promise<void> {
    const step = this.#queue.then(() => this.#write(id, record));
    this.#queue = step.catch(() => this.#log("warn", "session map not written"));
    return this.#queue;
  }

  async #load(): Promise<JsonObject | undefined> {
    try {
      const value: unknown = JSON.parse(await readFile(this.#path, "utf8"));
      return isObject(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  async #write(id: string, record: LazyRecord): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const release = await this.#lock();
    try {
      const table = (await this.#load()) ?? (await this.#setAside());
      const { choice, ...plain } = record;
      const known = objectAt(table, id) ?? {};
      const createdAt = numberAt(known, "createdAt") ?? record.createdAt;
      put(table, id, {
        ...known,
        ...plain,
        createdAt,
        ...(choice === undefined ? {} : { modelChoice: { ...choice, at: this.#clock.now() } }),
      });
      const temporary = `${this.#path}.tmp-${process.pid}-${this.#counter++}`;
      const text = `${JSON.stringify(withoutExpired(table, this.#clock.now()), null, 1)}\n`;
      await writeFile(temporary, text, { mode: 0o600, flush: true });
      await rename(temporary, this.#path);
      await this.#sweep();
    } finally {
      await release();
    }
  }

  /** A file that is there and cannot be read is kept beside the new one: it may be all that is left of somebody's threads. */
  async #setAside(): Promise<JsonObject> {
    try {
      await rename(this.#path, `${this.#path}.broken-${this.#clock.now()}`);
      this.#log("error", "session map was unreadable and set aside");
    } catch {
      // There was none: the first record of a new file.
    }
    return {};
  }

  async #lock(): Promise<() => Promise<void>> {
    const path = `${this.#path}.lock`;
    for (let attempt = 0; attempt < LOCK_TRIES; attempt++) {
      try {
        const handle = await open(path, "wx", 0o600);
        await handle.writeFile(`${hostname()} ${process.pid}`).finally(() => handle.close());
        return () => unlink(path).catch(() => {});
      } catch {
        if (!(await this.#breakLock(path))) await pause(this.#clock, LOCK_STEP_MS);
      }
    }
    throw new Error("the session map is locked");
  }

  /** Takes away the lock of a bridge that was killed while it wrote. False when its owner may still be at it. */
  async #breakLock(path: string): Promise<boolean> {
    const aside = `${path}-${process.pid}-${this.#counter++}`;
    try {
      const owner = await readFile(path, "utf8");
      const { mtimeMs } = await stat(path);
      if (!isOwnerDead(owner) && Date.now() - mtimeMs <= LOCK_STALE_MS) return false;
      await rename(path, aside);
      // Another bridge may have taken the dead lock away and set its own meanwhile: that one goes back.
      if ((await readFile(aside, "utf8")) !== owner) await link(aside, path);
      return true;
    } catch {
      return false;
    } finally {
      await unlink(aside).catch(() => {});
    }
  }

  async #sweep(): Promise<void> {
    const dir = dirname(this.#path);
    const prefix = `${basename(this.#path)}.tmp-`;
    const names = await readdir(dir).catch(() => []);
    for (const name of names.filter((entry) => entry.startsWith(prefix))) {
      const path = join(dir, name);
      const age = await stat(path).then(
        (info) => Date.now() - info.mtimeMs,
        () => 0,
      );
      if (age > TEMPORARY_KEPT_MS) await unlink(path).catch(() => {});
    }
  }
}
