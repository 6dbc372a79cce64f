/**
 * Changes an editor's settings file so that it can be undone to the byte: the text before is kept beside it, and a record of ours
 * says what we wrote. A file the person has changed since is not put back; only our entries are taken out.
 */
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, realpath, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject } from "../../protocol/json.ts";
import { type JsonValue, removeProperty, setProperty } from "./jsonc-insert.ts";

export interface PatchTarget {
  readonly file: string;
  readonly member: string;
  /** Ours, in the data directory. */
  readonly recordFile: string;
}

interface PatchRecord {
  /** Of the text we wrote last. */
  readonly after: string;
  /** There was no file before. */
  readonly wasAbsent: boolean;
  /** The directory we made for it. */
  readonly madeDir: string | null;
  /** The person changed the file between two of our writes: the backup is not what they want back. */
  readonly isMixed: boolean;
  readonly names: readonly string[];
}

export type UndoResult = "restored" | "removed" | "nothing";

export const backupOf = (file: string): string => `${file}.before-acp-hub`;

/** True when the file changed. Rejects with `SettingsError` when it cannot be read as settings; then nothing is written. */
export async function applyEntry(target: PatchTarget, name: string, value: JsonValue): Promise<boolean> {
  const { file, member, recordFile } = target;
  const current = await read(file);
  const text = setProperty(current ?? "", [member, name], value);
  if (text === current) return false;
  const record = await readRecord(recordFile);
  const isOurs = record !== undefined && current !== undefined && digest(current) === record.after;
  let { wasAbsent, madeDir } = record ?? { wasAbsent: current === undefined, madeDir: null };
  if (record === undefined) {
    wasAbsent = current === undefined;
    const made = await mkdir(dirname(file), { recursive: true });
    madeDir = made ?? null;
    if (current !== undefined) await writeLike(file, backupOf(file), current);
  }
  const next: PatchRecord = {
    after: digest(text),
    wasAbsent,
    madeDir,
    isMixed: record !== undefined && (record.isMixed || !isOurs),
    names: [...new Set([...(record?.names ?? []), name])],
  };
  await mkdir(dirname(recordFile), { recursive: true, mode: 0o700 });
  await writeFile(recordFile, `${JSON.stringify(next)}\n`, { mode: 0o600 });
  await writeLike(file, file, text);
  return true;
}

export async function undoEntries(target: PatchTarget): Promise<UndoResult> {
  const { file, member, recordFile } = target;
  const record = await readRecord(recordFile);
  if (record === undefined) return "nothing";
  const current = await read(file);
  const backup = await read(backupOf(file));
  const isUntouched = current !== undefined && !record.isMixed && digest(current) === record.after;
  let result: UndoResult = "restored";
  if (isUntouched && record.wasAbsent) await removeMade(file, record.madeDir);
  else if (isUntouched && backup !== undefined) await writeLike(file, file, backup);
  else if (current !== undefined) {
    result = "removed";
    const text = record.names.reduce((left, name) => removeProperty(left, [member, name]), current);
    if (text !== current) await writeLike(file, file, text);
  } else result = "nothing";
  await rm(backupOf(file), { force: true });
  await rm(recordFile, { force: true });
  // Goes only when it is empty: another editor's record, or the hub's own files, keep it.
  await rmdir(dirname(recordFile)).catch(() => undefined);
  return result;
}

async function removeMade(file: string, madeDir: string | null): Promise<void> {
  await rm(file, { force: true });
  if (madeDir === null) return;
  for (let dir = dirname(file); dir.startsWith(madeDir); dir = dirname(dir)) {
    // Somebody else's files may be in it by now.
    const isGone = await rmdir(dir).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}

/** With the mode of `model`, through a link if it is one (dotfiles often are), whole or not at all, whenever the power goes. */
async function writeLike(model: string, file: string, text: string): Promise<void> {
  const path = await realpath(file).catch(() => file);
  const mode = await stat(model).then(
    (info) => info.mode & 0o777,
    () => 0o644,
  );
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, text, { mode, flush: true });
  await chmod(temporary, mode);
  await rename(temporary, path);
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function readRecord(file: string): Promise<PatchRecord | undefined> {
  const text = await read(file);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || typeof value["after"] !== "string" || !Array.isArray(value["names"])) return undefined;
    return {
      after: value["after"],
      wasAbsent: value["wasAbsent"] === true,
      madeDir: typeof value["madeDir"] === "string" ? value["madeDir"] : null,
      isMixed: value["isMixed"] === true,
      names: value["names"].filter((name) => typeof name === "string"),
    };
  } catch {
    return undefined;
  }
}

export const recordFileOf = (dataDir: string, editor: string): string => join(dataDir, "setup", `${editor}.json`);
