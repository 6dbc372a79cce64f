/** A piece of coloured text: plain, or with highlight.js's class names. */
export interface Span {
  readonly className: string | undefined;
  readonly text: string;
}
