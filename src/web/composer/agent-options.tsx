/** Modes, models and other choices the agent offers, as small native selects. */
import { type ReactElement, useState } from "react";
import type { SessionClient, Transcript } from "../../client/index.ts";
import { arrayAt, isObject, type JsonObject, stringAt } from "../../protocol/json.ts";

interface Option {
  readonly value: string;
  readonly name: string;
}

interface Group {
  readonly name: string | undefined;
  readonly options: readonly Option[];
}

export interface AgentOptionsProps {
  readonly session: SessionClient;
  readonly offers: Pick<Transcript, "modes" | "configOptions">;
  readonly isDisabled: boolean;
}

export function AgentOptions({ session, offers, isDisabled }: AgentOptionsProps): ReactElement | null {
  const [error, setError] = useState<string>();
  const { modes, configOptions } = offers;
  const available = (arrayAt(modes, "availableModes") ?? []).filter(isObject);
  // An agent that offers its modes as an option too (category "mode") is shown once.
  const hasModeOption = configOptions.some((option) => option["category"] === "mode");
  const run = (change: Promise<void>): void => {
    setError(undefined);
    change.catch((reason: unknown) => setError(reason instanceof Error ? reason.message : "That did not work"));
  };
  if (available.length === 0 && configOptions.length === 0) return null;
  return (
    <div className="agent-options">
      {available.length > 0 && !hasModeOption && (
        <Choice
          label="Mode"
          value={stringAt(modes, "currentModeId") ?? ""}
          groups={[
            {
              name: undefined,
              options: available.map((mode) => ({
                value: stringAt(mode, "id") ?? "",
                name: stringAt(mode, "name") ?? "",
              })),
            },
          ]}
          isDisabled={isDisabled}
          onChange={(value) => run(session.setMode(value))}
        />
      )}
      {configOptions.map((option) => (
        <ConfigOption
          key={stringAt(option, "id") ?? ""}
          option={option}
          isDisabled={isDisabled}
          onChange={(value) => run(session.setConfigOption(stringAt(option, "id") ?? "", value))}
        />
      ))}
      {error !== undefined && (
        <span className="form-error" role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

interface ConfigOptionProps {
  readonly option: JsonObject;
  readonly isDisabled: boolean;
  readonly onChange: (value: string | boolean) => void;
}

function ConfigOption({ option, isDisabled, onChange }: ConfigOptionProps): ReactElement {
  const name = stringAt(option, "name") ?? stringAt(option, "id") ?? "";
  if (typeof option["currentValue"] === "boolean") {
    return (
      <label className="option-chip">
        <input
          type="checkbox"
          checked={option["currentValue"]}
          disabled={isDisabled}
          onChange={(event) => onChange(event.target.checked)}
        />
        {name}
      </label>
    );
  }
  return (
    <Choice
      label={name}
      value={stringAt(option, "currentValue") ?? ""}
      groups={groupsOf(option)}
      isDisabled={isDisabled}
      onChange={onChange}
    />
  );
}

function groupsOf(option: JsonObject): readonly Group[] {
  const entries = (arrayAt(option, "options") ?? []).filter(isObject);
  const isGrouped = entries.some((entry) => Array.isArray(entry["options"]));
  if (!isGrouped) return [{ name: undefined, options: entries.map(readOption) }];
  return entries.map((group) => ({
    name: stringAt(group, "name"),
    options: (arrayAt(group, "options") ?? []).filter(isObject).map(readOption),
  }));
}

const readOption = (entry: JsonObject): Option => {
  const value = stringAt(entry, "value") ?? "";
  return { value, name: stringAt(entry, "name") ?? value };
};

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly groups: readonly Group[];
  readonly isDisabled: boolean;
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, groups, isDisabled, onChange }: ChoiceProps): ReactElement {
  const options = (group: Group): ReactElement[] =>
    group.options.map((option) => (
      <option key={option.value} value={option.value}>
        {option.name}
      </option>
    ));
  return (
    <label className="option-chip">
      <span className="hidden-text">{label}</span>
      <select value={value} disabled={isDisabled} title={label} onChange={(event) => onChange(event.target.value)}>
        {groups.map((group) =>
          group.name === undefined ? (
            options(group)
          ) : (
            <optgroup key={group.name} label={group.name}>
              {options(group)}
            </optgroup>
          ),
        )}
      </select>
    </label>
  );
}
