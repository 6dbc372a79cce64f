/** Gives a thing another name. */
import { type ReactElement, useState } from "react";

export interface RenameFormProps {
  /** Of the field. */
  readonly label: string;
  /** As it is called now. */
  readonly name: string;
  readonly maxLength: number;
  readonly onRename: (name: string) => void;
}

export function RenameForm({ label, name, maxLength, onRename }: RenameFormProps): ReactElement {
  const [text, setText] = useState(name);
  const wanted = text.trim();
  return (
    <form
      className="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (wanted !== "") onRename(wanted);
      }}
    >
      <input
        className="input"
        aria-label={label}
        value={text}
        maxLength={maxLength}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button" disabled={wanted === "" || text === name}>
        Rename
      </button>
    </form>
  );
}
