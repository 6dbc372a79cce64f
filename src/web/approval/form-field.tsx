/** One field of an elicitation form, on native inputs. */
import { type ReactElement, type ReactNode, useId } from "react";
import type { Choice, FormField, FormValue } from "../../client/index.ts";
import { Icon } from "../ui/icon.tsx";
import { localInstant } from "./local-instant.ts";

export interface FormFieldViewProps {
  readonly field: FormField;
  readonly value: FormValue;
  readonly error: string | undefined;
  readonly onChange: (value: FormValue) => void;
}

export function FormFieldView(props: FormFieldViewProps): ReactElement {
  switch (props.field.kind) {
    case "boolean":
      return <BooleanField {...props} />;
    case "choice":
      return <ChoiceField {...props} choices={props.field.choices} />;
    case "choices":
      return <ChoicesField {...props} choices={props.field.choices} />;
    case "text":
    case "number":
      return <InputField {...props} />;
  }
}

const INPUT_TYPES = new Map([
  ["email", "email"],
  ["uri", "url"],
  ["date", "date"],
  ["date-time", "datetime-local"],
]);

function InputField({ field, value, error, onChange }: FormFieldViewProps): ReactElement {
  const id = useId();
  const written = typeof value === "string" ? value : "";
  const typed = field.kind === "text" && field.format === "date-time" ? localInstant(written) : written;
  const shared = {
    id,
    className: "input",
    value: typed,
    required: field.isRequired,
    "aria-invalid": error !== undefined,
    "aria-describedby": `${id}-about`,
  };
  const isLong =
    field.kind === "text" && field.format === undefined && (field.maxLength === undefined || field.maxLength > 200);
  return (
    <div className="field">
      <Label field={field} id={id} />
      {isLong ? (
        <textarea {...shared} className="input grows" rows={1} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <input
          {...shared}
          type={field.kind === "text" ? (INPUT_TYPES.get(field.format ?? "") ?? "text") : "text"}
          inputMode={keyboardOf(field)}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      <About id={id} field={field} error={error} />
    </div>
  );
}

/** The keyboards for numbers have no minus on some phones. */
function keyboardOf(field: FormField): "numeric" | "decimal" | undefined {
  if (field.kind !== "number" || (field.minimum ?? -1) < 0) return undefined;
  return field.isInteger ? "numeric" : "decimal";
}

function BooleanField({ field, value, error, onChange }: FormFieldViewProps): ReactElement {
  const id = useId();
  return (
    <div className="field">
      <label className="choice">
        <input
          type="checkbox"
          checked={value === true}
          aria-describedby={`${id}-about`}
          onChange={(event) => onChange(event.target.checked)}
        />
        <span>{field.title}</span>
      </label>
      <About id={id} field={field} error={error} />
    </div>
  );
}

type ChoicesProps = FormFieldViewProps & { readonly choices: readonly Choice[] };

function ChoiceField({ field, value, error, onChange, choices }: ChoicesProps): ReactElement {
  return (
    <ChoiceSet field={field} error={error}>
      {(name) =>
        choices.map((choice) => (
          <ChoiceLine key={choice.value} choice={choice}>
            <input
              type="radio"
              name={name}
              checked={value === choice.value}
              // A chosen optional answer can be taken back by choosing it again.
              onClick={() => !field.isRequired && value === choice.value && onChange("")}
              onChange={() => onChange(choice.value)}
            />
          </ChoiceLine>
        ))
      }
    </ChoiceSet>
  );
}

function ChoicesField({ field, value, error, onChange, choices }: ChoicesProps): ReactElement {
  const chosen: readonly string[] = Array.isArray(value) ? value : [];
  const toggle = (name: string, isOn: boolean): void =>
    // In the schema's order, whatever the order of the taps.
    onChange(choices.map((choice) => choice.value).filter((other) => (other === name ? isOn : chosen.includes(other))));
  return (
    <ChoiceSet field={field} error={error}>
      {() =>
        choices.map((choice) => (
          <ChoiceLine key={choice.value} choice={choice}>
            <input
              type="checkbox"
              checked={chosen.includes(choice.value)}
              onChange={(event) => toggle(choice.value, event.target.checked)}
            />
          </ChoiceLine>
        ))
      }
    </ChoiceSet>
  );
}

interface ChoiceSetProps {
  readonly field: FormField;
  readonly error: string | undefined;
  readonly children: (name: string) => ReactNode;
}

function ChoiceSet({ field, error, children }: ChoiceSetProps): ReactElement {
  const id = useId();
  return (
    <fieldset className="field" aria-describedby={`${id}-about`}>
      <legend className="field-label">
        {field.title}
        {!field.isRequired && <span className="muted"> (optional)</span>}
      </legend>
      <div className="choices">{children(id)}</div>
      <About id={id} field={field} error={error} />
    </fieldset>
  );
}

function ChoiceLine({ choice, children }: { readonly choice: Choice; readonly children: ReactNode }): ReactElement {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label className="choice">
      {children}
      <span>
        {choice.title}
        {choice.description !== undefined && <small>{choice.description}</small>}
      </span>
    </label>
  );
}

function Label({ field, id }: { readonly field: FormField; readonly id: string }): ReactElement {
  return (
    <label htmlFor={id}>
      {field.title}
      {!field.isRequired && <span className="muted"> (optional)</span>}
    </label>
  );
}

function About({
  id,
  field,
  error,
}: {
  readonly id: string;
  readonly field: FormField;
  readonly error: string | undefined;
}): ReactElement {
  return (
    <div id={`${id}-about`}>
      {field.description !== undefined && <p className="hint muted">{field.description}</p>}
      {error !== undefined && (
        <p className="error" role="alert">
          <Icon name="alert" small /> {error}
        </p>
      )}
    </div>
  );
}
