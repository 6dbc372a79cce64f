/**
 * Markdown → tokens, incrementally. Only marked's lexer is used: it makes tokens, never HTML. While text streams in, blocks
 * before the last are frozen, so that a long message costs what its last block costs.
 */
import { lexer, type Token } from "marked";

interface Lexed {
  readonly text: string;
  readonly tokens: readonly Token[];
}

const EMPTY: Lexed = { text: "", tokens: [] };

export class BlockLexer {
  #last: Lexed = EMPTY;

  /** The blocks of `text`. Cheap when it only grew since the last call. */
  lex(text: string): readonly Token[] {
    const { text: before, tokens } = this.#last;
    if (text === before) return tokens;
    const frozen = text.startsWith(before) ? frozenCount(tokens) : 0;
    const head = tokens.slice(0, frozen);
    const offset = head.reduce((sum, token) => sum + token.raw.length, 0);
    const next = [...head, ...lexer(text.slice(offset), { gfm: true })];
    this.#last = { text, tokens: next };
    return next;
  }
}

/** All blocks before the last that is more than blank lines: that one may still grow or change its kind. */
function frozenCount(tokens: readonly Token[]): number {
  let index = tokens.length - 1;
  while (index > 0 && tokens[index]?.type === "space") index -= 1;
  return Math.max(0, index);
}
