/**
 * Cumulative output tails turned into what is new. The tail slides: once it is full it drops its head, so "starts with
 * the last one" fails. Byte counters decide where the backend sends them, else the longest overlap does.
 */

/** Length of the longest suffix of `before` that is a prefix of `after`. */
export function overlap(before: string, after: string): number {
  const max = Math.min(before.length, after.length);
  if (max === 0) return 0;
  const pattern = after.slice(0, max);
  const fail = new Int32Array(max);
  for (let at = 1, k = 0; at < max; at++) {
    while (k > 0 && pattern.charCodeAt(at) !== pattern.charCodeAt(k)) k = fail[k - 1] ?? 0;
    if (pattern.charCodeAt(at) === pattern.charCodeAt(k)) k++;
    fail[at] = k;
  }
  let k = 0;
  for (let at = before.length - max; at < before.length; at++) {
    while (k > 0 && (k === max || before.charCodeAt(at) !== pattern.charCodeAt(k))) k = fail[k - 1] ?? 0;
    if (before.charCodeAt(at) === pattern.charCodeAt(k)) k++;
  }
  return k;
}

export class TailDiff {
  #tail = "";
  #bytes: number | undefined;

  /** What `tail` adds to what was given before. `totalBytes` counts all output ever, where known. */
  next(tail: string, totalBytes?: number): string {
    const before = this.#tail;
    const beforeBytes = this.#bytes;
    this.#tail = tail;
    this.#bytes = totalBytes ?? (tail.startsWith(before) ? beforeBytes : undefined);
    if (tail === before && totalBytes === beforeBytes) return "";
    if (tail.startsWith(before) && (totalBytes === undefined || beforeBytes === undefined))
      return tail.slice(before.length);
    if (totalBytes !== undefined && beforeBytes !== undefined) return lastBytes(tail, totalBytes - beforeBytes);
    return tail.slice(overlap(before, tail));
  }
}

function lastBytes(text: string, count: number): string {
  if (count <= 0) return "";
  const bytes = Buffer.from(text, "utf8");
  return count >= bytes.length ? text : bytes.subarray(bytes.length - count).toString("utf8");
}
