/** Page cursors: numbers a client hands back as they are. One that was not made here reads as none. */

export function encodeCursor(numbers: readonly number[]): string {
  return Buffer.from(numbers.join(".")).toString("base64url");
}

/** The numbers, when there are exactly `count`. */
export function decodeCursor(cursor: string | undefined, count: number): number[] | undefined {
  if (cursor === undefined || cursor.length > 128) return undefined;
  const text = Buffer.from(cursor, "base64url").toString("latin1");
  if (!/^\d{1,16}(\.\d{1,16})*$/.test(text)) return undefined;
  const numbers = text.split(".").map(Number);
  return numbers.length === count && numbers.every(Number.isSafeInteger) ? numbers : undefined;
}
