/**
 * Does once, while the screens are still on their way, what is slow the first time: a phone takes 100 ms for the tables behind
 * dates and for the patterns of Markdown, and would take them when there is something to read.
 */
import { BlockLexer } from "../markdown/lex.ts";
import { atTime } from "../ui/time.ts";

const SAMPLE = "# A\n\nb **c** `d` [e](f)\n\n- g\n- h\n\n```i\nj\n```\n\n> k\n\n| l |\n|---|\n| m |\n";

export function warmUp(now: number): void {
  atTime(now, now);
  new BlockLexer().lex(SAMPLE);
}
