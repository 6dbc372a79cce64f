/** Files named in a message with "@": found while typing, sent as what an agent can open (ACP content blocks). Pure. */
import type { JsonObject } from "../../protocol/json.ts";

/** A file that was chosen. In the text it stands as `@path`. */
export interface Mention {
  readonly path: string;
  readonly name: string;
  readonly uri: string;
}

/** A file whose text goes along, for agents that take it. */
export type MentionTexts = ReadonlyMap<string, string>;

export interface OpenMention {
  /** Where the "@" stands. */
  readonly start: number;
  /** What was typed after it. */
  readonly query: string;
}

/** The mention the caret stands in; "@" begins one at the beginning of a word alone, so that an address by mail is none. */
export function mentionAt(text: string, caret: number): OpenMention | undefined {
  const match = /(?:^|[\s([{"'])@([^\s@]*)$/.exec(text.slice(0, caret));
  if (match === null) return undefined;
  const query = match[1] ?? "";
  return { start: caret - query.length - 1, query };
}

/** The text with the mention in place of what was typed, and where the caret goes. */
export function withMention(text: string, open: OpenMention, mention: Mention): { text: string; caret: number } {
  const before = `${text.slice(0, open.start)}@${mention.path}`;
  const after = text.slice(open.start + 1 + open.query.length);
  const gap = /^\s/.test(after) ? "" : " ";
  return { text: before + gap + after, caret: before.length + 1 };
}

/** A path may be the beginning of another: the longest that stands there is meant, and a word goes to its end. */
function findMention(
  text: string,
  from: number,
  mentions: readonly Mention[],
): { at: number; mention: Mention } | undefined {
  let best: { at: number; mention: Mention } | undefined;
  for (const mention of mentions) {
    for (let at = text.indexOf(`@${mention.path}`, from); at >= 0; at = text.indexOf(`@${mention.path}`, at + 1)) {
      if (!isWhole(text, at, mention)) continue;
      const isBetter =
        best === undefined || at < best.at || (at === best.at && mention.path.length > best.mention.path.length);
      if (isBetter) best = { at, mention };
      break;
    }
  }
  return best;
}

const isWhole = (text: string, at: number, { path }: Mention): boolean =>
  (at === 0 || /[\s([{"']/.test(text[at - 1] ?? "")) && !/^[\p{L}\p{N}_/-]/u.test(text.slice(at + 1 + path.length));

/** Mentions that still stand in the text: who deletes the word does not send the file. */
export function mentionsIn(text: string, mentions: readonly Mention[]): readonly Mention[] {
  const found = new Set<Mention>();
  for (let from = 0; ; ) {
    const next = findMention(text, from, mentions);
    if (next === undefined) return [...found];
    found.add(next.mention);
    from = next.at + 1 + next.mention.path.length;
  }
}

/** The text as content blocks, each mention in its place: with its text where that is known, else as a link. */
export function promptBlocks(text: string, mentions: readonly Mention[], texts: MentionTexts): readonly JsonObject[] {
  const blocks: JsonObject[] = [];
  const push = (part: string): void => {
    if (part !== "") blocks.push({ type: "text", text: part });
  };
  let from = 0;
  for (;;) {
    const next = findMention(text, from, mentions);
    if (next === undefined) break;
    push(text.slice(from, next.at));
    blocks.push(blockOf(next.mention, texts.get(next.mention.path)));
    from = next.at + 1 + next.mention.path.length;
  }
  push(text.slice(from));
  return blocks;
}

function blockOf({ uri, path }: Mention, text: string | undefined): JsonObject {
  if (text === undefined) return { type: "resource_link", uri, name: path };
  return { type: "resource", resource: { uri, text } };
}

/** A prompt's blocks as they were put together, to go on with. */
export function typedText(blocks: readonly JsonObject[]): {
  readonly text: string;
  readonly mentions: readonly Mention[];
  readonly images: readonly JsonObject[];
} {
  const mentions: Mention[] = [];
  const images: JsonObject[] = [];
  let text = "";
  for (const block of blocks) {
    if (block["type"] === "image") images.push(block);
    if (block["type"] === "text") text += typeof block["text"] === "string" ? block["text"] : "";
    const mention = mentionOf(block);
    if (mention === undefined) continue;
    mentions.push(mention);
    text += `@${mention.path}`;
  }
  return { text, mentions, images };
}

/** The file a block names; undefined for one that names none. */
export function mentionOf(block: JsonObject): Mention | undefined {
  const holder =
    block["type"] === "resource" ? block["resource"] : block["type"] === "resource_link" ? block : undefined;
  if (typeof holder !== "object" || holder === null || Array.isArray(holder)) return undefined;
  const uri = holder["uri"];
  if (typeof uri !== "string" || !uri.startsWith("file:")) return undefined;
  const known = holder["name"];
  const path = typeof known === "string" ? known : pathOf(uri);
  return { path, name: path.slice(path.lastIndexOf("/") + 1), uri };
}

/** The path of a `file:` address; the address itself where it is none. */
export function pathOf(uri: string): string {
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
