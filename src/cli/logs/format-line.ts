/** A line of a log as a person reads it. */
import { isObject, type JsonObject } from "../../protocol/json.ts";

export interface LogLine {
  /** Epoch milliseconds; undefined for lines that are no JSON of ours. */
  readonly time: number | undefined;
  readonly text: string;
}

const LEVELS: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};
/** Shown in front, or of no use. */
const OWN = new Set(["time", "level", "msg", "pid", "hostname"]);

/** `source` is the file's name without its ending. */
export function formatLine(source: string, line: string): LogLine {
  const value = parse(line);
  const time = value?.["time"];
  if (value === undefined || typeof time !== "number")
    return { time: undefined, text: `${source}: ${printable(line)}` };
  const level = value["level"];
  const word = typeof level === "number" ? (LEVELS[level] ?? String(level)) : String(level ?? "info");
  const fields = Object.entries(value)
    .filter(([key]) => !OWN.has(key))
    .map(
      ([key, member]) => `${printable(key)}=${printable(typeof member === "string" ? member : JSON.stringify(member))}`,
    );
  const message = printable(String(value["msg"] ?? ""));
  return { time, text: [clockOf(time), word.padEnd(5), source, message, ...fields].join(" ") };
}

function parse(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `2026-01-31 14:02:03` in the time of this computer. */
function clockOf(time: number): string {
  const date = new Date(time);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Agents' names and errors are in the fields: they do not steer the terminal. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, " ");
