/**
 * Text a person decides about: nothing in it may be invisible. Control, bidirectional, zero-width and look-alike space
 * characters are shown by name; they are how a harmless-looking command hides another.
 */
import { Fragment, type ReactElement, type ReactNode } from "react";
import { splitVisible } from "./visible-runs.ts";

export function VisibleText({
  text,
  marksOperators = false,
}: {
  readonly text: string;
  readonly marksOperators?: boolean;
}): ReactElement {
  const runs = splitVisible(text);
  return (
    <bdi>
      {runs.map((run, index) => (
        // The runs of one text never move: their index is their identity.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <Fragment key={index}>
          {run.kind === "hidden" ? (
            <mark className="hidden-char" title={`Invisible character ${run.name}`}>
              {run.name}
            </mark>
          ) : marksOperators ? (
            withOperators(run.text)
          ) : (
            run.text
          )}
        </Fragment>
      ))}
    </bdi>
  );
}

const OPERATORS = /(&&|\|\||;|\||\$\(|`|>{1,2}|<\()/;

/** What joins several commands into one line stands out. */
function withOperators(text: string): ReactNode {
  return text.split(OPERATORS).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text never move
      <b className="operator" key={index}>
        {part}
      </b>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text never move
      <Fragment key={index}>{withFlags(part)}</Fragment>
    ),
  );
}

const FLAGS = /((?<!\S)-\S{1,23}(?!\S))/;

/** A line may break after a hyphen, and "-" at its end is no "-s" to anybody. */
function withFlags(text: string): ReactNode {
  return text.split(FLAGS).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text never move
      <span className="unbroken" key={index}>
        {part}
      </span>
    ) : (
      part
    ),
  );
}
