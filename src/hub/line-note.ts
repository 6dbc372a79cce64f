/** The last line of a session as its record keeps it: a list of many reads no journal. */
import { type LastLine, readLastLine } from "../core/journal/last-line.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { SessionRecord } from "../store/ports.ts";

/** Undefined for a record of before there were lines. */
export const lineOf = (record: SessionRecord | undefined): LastLine | undefined =>
  readLastLine(record?.extra["lastLine"]);

export const lineNote = (line: LastLine | undefined): JsonObject =>
  line === undefined ? {} : { lastLine: { from: line.from, text: line.text } };

/** No line takes none away: the session has not lost what was said in it. */
export const withLine = (record: SessionRecord, line: LastLine | undefined): SessionRecord => ({
  ...record,
  extra: { ...record.extra, ...lineNote(line) },
});

export const isSameLine = (kept: LastLine | undefined, line: LastLine | undefined): boolean =>
  line === undefined || (kept?.from === line.from && kept.text === line.text);
