/** Hours in which this device is left alone, by its own clock. */
import { type ReactElement, useState } from "react";
import type { QuietHours } from "../../protocol/quiet-hours.ts";
import { ownTimeZone } from "./wishes.ts";

/** What most people would set. */
const NIGHT = { from: "22:00", to: "07:00", letsQuestionsThrough: false };

export interface QuietHoursFormProps {
  readonly quietHours: QuietHours | undefined;
  readonly onChange: (quietHours: QuietHours | null) => void;
}

export function QuietHoursForm({ quietHours, onChange }: QuietHoursFormProps): ReactElement {
  const change = (part: Partial<QuietHours>): void =>
    onChange({ ...NIGHT, ...quietHours, timeZone: ownTimeZone(), ...part });
  return (
    <fieldset className="field">
      <legend className="field-label">Quiet hours</legend>
      <div className="choices">
        <label className="choice">
          <input
            type="checkbox"
            checked={quietHours !== undefined}
            onChange={(event) => (event.target.checked ? change({}) : onChange(null))}
          />
          <span>
            Leave this device alone at night
            <small>The hub keeps pushes back for these hours, every day.</small>
          </span>
        </label>
        {quietHours !== undefined && (
          <>
            <div className="quiet-times">
              <TimeField label="From" value={quietHours.from} onChange={(from) => change({ from })} />
              <TimeField label="To" value={quietHours.to} onChange={(to) => change({ to })} />
              <span className="muted">{quietHours.timeZone.replaceAll("_", " ")}</span>
            </div>
            <label className="choice">
              <input
                type="checkbox"
                checked={quietHours.letsQuestionsThrough}
                onChange={(event) => change({ letsQuestionsThrough: event.target.checked })}
              />
              <span>
                Let questions through
                <small>An agent that needs you may wake you; one that has finished may not.</small>
              </span>
            </label>
          </>
        )}
      </div>
    </fieldset>
  );
}

interface TimeFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Sends a time when it is whole: half of one, while it is typed, is nothing yet. */
function TimeField({ label, value, onChange }: TimeFieldProps): ReactElement {
  const [typed, setTyped] = useState<string>();
  return (
    <label className="quiet-time">
      {label}
      <input
        className="input"
        type="time"
        value={typed ?? value}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => {
          if (typed !== undefined && typed !== "" && typed !== value) onChange(typed);
          setTyped(undefined);
        }}
      />
    </label>
  );
}
