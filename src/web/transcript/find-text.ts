/** Where a text stands in a long one, whatever the case. Pure. */

/** More than anybody steps through. */
export const MATCHES_MAX = 50_000;

/**
 * Lower case of the same length, so that a place in it is a place in the text. The dotted capital İ would grow by one, and a
 * sigma depends on where it stands.
 */
export const foldCase = (text: string): string => text.replaceAll("\u0130", "i").toLowerCase().replaceAll("ς", "σ");

/** The beginnings of every match, in order. Both texts are folded. */
export function findAll(text: string, query: string): readonly number[] {
  const found: number[] = [];
  if (query === "") return found;
  for (let at = text.indexOf(query); at >= 0 && found.length < MATCHES_MAX; at = text.indexOf(query, at + query.length))
    found.push(at);
  return found;
}

/** The first index whose value is not below `value`; the length when there is none. */
export function lowerBound(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
