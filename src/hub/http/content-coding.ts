/** In which coding a client is sent a file (RFC 9110 §12.5.3), and whether it has that already (§13.1.2). Pure. */

/** What the build packs files in. */
export type Coding = "br" | "gzip";

/** Of the codings there are, in our order of liking, the one the client likes best; undefined: as it is. */
export function chooseCoding(accepted: string | undefined, available: readonly Coding[]): Coding | undefined {
  const weights = readWeights(accepted ?? "");
  let best: Coding | undefined;
  let most = 0;
  for (const coding of available) {
    const weight = weights.get(coding) ?? weights.get("*") ?? 0;
    if (weight > most) [best, most] = [coding, weight];
  }
  // Who names "as it is" may like it better; who does not gets it when nothing else will do.
  return most >= (weights.get("identity") ?? 0) ? best : undefined;
}

const OLD_NAMES: Readonly<Record<string, string>> = { "x-gzip": "gzip" };

function readWeights(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(",")) {
    const [name = "", parameter] = part.split(";").map((text) => text.trim());
    if (name !== "") weights.set(OLD_NAMES[name] ?? name, readWeight(parameter));
  }
  return weights;
}

/** What cannot be read is no offer. */
function readWeight(parameter: string | undefined): number {
  if (parameter === undefined) return 1;
  return Number(/^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(parameter)?.[1] ?? 0);
}

/** `If-None-Match` names what would be sent. A proxy that packed it anew has made the mark a weak one. */
export function isKnownAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const named: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return named.includes(etag);
}
