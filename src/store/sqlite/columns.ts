/** Reads columns of our own tables. They are STRICT, so another type means a damaged file. */
import { isObject, type JsonObject } from "../../protocol/json.ts";
import type { SqlRow } from "../driver.ts";
import { StoreError } from "../errors.ts";
import type { SessionKey } from "../session-key.ts";

const wrong = (column: string): StoreError =>
  new StoreError("damaged", `the column "${column}" does not hold what was written`);

export function textAt(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw wrong(column);
  return value;
}

export function numberAt(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw wrong(column);
  return value;
}

export function optionalText(row: SqlRow, column: string): string | undefined {
  return row[column] === null ? undefined : textAt(row, column);
}

export function optionalNumber(row: SqlRow, column: string): number | undefined {
  return row[column] === null ? undefined : numberAt(row, column);
}

export function jsonAt(row: SqlRow, column: string): unknown {
  try {
    return JSON.parse(textAt(row, column));
  } catch {
    throw wrong(column);
  }
}

export function objectAt(row: SqlRow, column: string): JsonObject {
  const value = jsonAt(row, column);
  if (!isObject(value)) throw wrong(column);
  return value;
}

export function stringsAt(row: SqlRow, column: string): string[] {
  const value = jsonAt(row, column);
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) throw wrong(column);
  return value;
}

/** The only maker of keys in the database is `sessionKey`, so what is read back is one. */
export const keyAt = (row: SqlRow, column: string): SessionKey => textAt(row, column) as SessionKey;
