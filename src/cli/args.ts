/** Reads a command's arguments. Wrong usage is an error in words, never a stack. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { UsageError } from "./exit.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Values<O extends Options> = { [K in keyof O]?: O[K]["type"] extends "boolean" ? boolean : string };

export interface Parsed<O extends Options> {
  readonly values: Values<O>;
  readonly positionals: readonly string[];
}

/** `usage` is shown with the error. Options may stand anywhere; everything after `--` is positional. */
export function readArgs<O extends Options>(args: readonly string[], options: O, usage: string): Parsed<O> {
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
