/** Reads a command's arguments. Wrong usage is an error in words, never a stack. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { UsageError } from "./exit.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Values<O extends Options> = { [K in keyof O]?: O[K]["type"] extends "boolean" ? boolean : string };

export interface Parsed<O extends Options> {
  readonly values: Values<O>;
  readonly positionals: readonly string[];
}

/** How many words a command takes; by its first word, where it has several forms. A first word that is none is the command's to refuse. */
export type WordCount = number | Readonly<Record<string, number>>;

/** The command looks itself at what it is given. */
export const ANY_WORDS: WordCount = Number.POSITIVE_INFINITY;

/** `usage` is shown with the error. Options may stand anywhere; everything after `--` is positional. */
export function readArgs<O extends Options>(
  args: readonly string[],
  options: O,
  usage: string,
  words: WordCount,
): Parsed<O> {
  const parsed = parse(args, options, usage);
  const [first = ""] = parsed.positionals;
  const max = typeof words === "number" ? words : Object.hasOwn(words, first) ? words[first] : undefined;
  const extra = max === undefined ? undefined : parsed.positionals[max];
  if (extra === undefined) return parsed;
  throw new UsageError(`${usage.split(" ")[1] ?? ""} takes no "${extra}"\nUsage: ${usage}`);
}

function parse<O extends Options>(args: readonly string[], options: O, usage: string): Parsed<O> {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    return { values: values as Values<O>, positionals };
  } catch (error) {
    const message =
      error instanceof Error ? error.message.replace(/\. To specify a positional.*$/s, "") : String(error);
    throw new UsageError(`${message}\nUsage: ${usage}`);
  }
}

/** A whole number in a range, or a usage error that names the option. */
export function readNumber(name: string, value: string | undefined, min: number, max: number): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new UsageError(`${name} takes a whole number from ${min} to ${max}, not "${value}"`);
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A duration such as `30d`, `12h`, `90s` in seconds. */
export function readDuration(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const match = /^(\d{1,9})([smhd])?$/.exec(value);
  const seconds = match === null ? Number.NaN : Number(match[1]) * (UNITS[match[2] ?? "s"] ?? 1);
  if (seconds > 0) return seconds;
  throw new UsageError(`${name} takes a duration such as 90s, 12h or 30d, not "${value}"`);
}

/** One of a few words, or a usage error that names them. */
export function readOneOf<T extends string>(name: string, value: string | undefined, all: readonly T[]): T | undefined {
  const found = all.find((each) => each === value);
  if (value === undefined || found !== undefined) return found;
  throw new UsageError(`${name} takes ${all.slice(0, -1).join(", ")} or ${all.at(-1)}, not "${value}"`);
}
