/** An elicitation form, drawn from its schema. Declining and closing are two different answers. */
import { type FormEvent, type ReactElement, useMemo, useState } from "react";
import {
  acceptForm,
  checkForm,
  type FormField,
  type FormValue,
  type FormValues,
  initialValues,
  readForm,
} from "../../client/index.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { FormFieldView } from "./form-field.tsx";
import { RefusalButtons } from "./refusal-buttons.tsx";
import type { TapGuard } from "./tap-guard.ts";

export interface FormCardProps {
  readonly message: string;
  readonly schema: JsonObject | undefined;
  readonly guard: TapGuard;
  readonly isBusy: boolean;
  readonly onAnswer: (result: Json) => void;
}

export function FormCard({ message, schema, guard, isBusy, onAnswer }: FormCardProps): ReactElement {
  const fields = useMemo(() => readForm(schema), [schema]);
  const [values, setValues] = useState<FormValues>(() => initialValues(fields));
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const change = (name: string, value: FormValue): void => {
    const next = { ...values, [name]: value };
    setValues(next);
    // A field that was wrong is judged again as it changes; others wait until they are sent.
    if (errors[name] !== undefined) setErrors(errorsOf(fields, next, Object.keys(errors)));
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!guard.allows(event)) return;
    const result = checkForm(fields, values);
    if (result.ok) onAnswer(acceptForm(result.content));
    else setErrors(result.errors);
  };
  return (
    <form className="question-form" onSubmit={submit} noValidate>
      <div className="question-body">
        <Markdown text={message} />
        {fields.map((field) => (
          <FormFieldView
            key={field.name}
            field={field}
            value={values[field.name] ?? field.initial}
            error={errors[field.name]}
            onChange={(value) => change(field.name, value)}
          />
        ))}
      </div>
      <div className="options inline">
        <button type="submit" className="button primary option" disabled={isBusy} aria-disabled={!guard.isOpen}>
          Send
        </button>
        <RefusalButtons guard={guard} isBusy={isBusy} onAnswer={onAnswer} />
      </div>
    </form>
  );
}

function errorsOf(
  fields: readonly FormField[],
  values: FormValues,
  names: readonly string[],
): Readonly<Record<string, string>> {
  const result = checkForm(fields, values);
  if (result.ok) return {};
  return Object.fromEntries(Object.entries(result.errors).filter(([name]) => names.includes(name)));
}
