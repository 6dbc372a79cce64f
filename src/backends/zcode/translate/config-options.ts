/** Model, mode and thought level as ACP config options, from what the backend says of a session. */
import { arrayAt, isObject, type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../../protocol/json.ts";
import type { Update } from "./event.ts";

export interface ThoughtLevel {
  readonly value: string;
  readonly label: string;
}

export interface ModelEntry {
  readonly providerId: string;
  readonly modelId: string;
  readonly label: string;
  readonly providerLabel: string | undefined;
  readonly contextWindow: number | undefined;
  /** Empty for a model without levels. */
  readonly levels: readonly ThoughtLevel[];
  readonly defaultLevel: string | undefined;
  readonly isDisabled: boolean;
}

export interface ModelRef {
  readonly providerId: string;
  readonly modelId: string;
}

/** What a session is set to. Unknown members are undefined. */
export interface Settings {
  readonly model: ModelRef | undefined;
  readonly mode: string;
  readonly thought: string | undefined;
  readonly models: readonly ModelEntry[];
  /** Only models of this provider are offered. */
  readonly pinnedProvider?: string;
  /** Levels of the current model, where the backend lists them apart from the model table. */
  readonly levels: readonly ThoughtLevel[];
}

export const MODES: readonly { readonly id: string; readonly name: string; readonly description: string }[] = [
  { id: "plan", name: "Plan", description: "Reads and plans; changes nothing" },
  { id: "build", name: "Build", description: "Asks before it edits or runs" },
  { id: "edit", name: "Edit", description: "Edits freely; asks before it runs" },
  { id: "yolo", name: "Yolo", description: "Asks for nothing" },
  { id: "auto", name: "Auto", description: "Lets ZCode decide what needs asking" },
];

function readLevels(values: readonly Json[]): ThoughtLevel[] {
  return values.flatMap((value) => {
    if (typeof value === "string") return [{ value, label: value }];
    const name = isObject(value) ? stringAt(value, "value") : undefined;
    return name === undefined || !isObject(value) ? [] : [{ value: name, label: stringAt(value, "label") ?? name }];
  });
}

function readRef(value: Json | undefined): ModelRef | undefined {
  if (!isObject(value)) return undefined;
  const modelId = stringAt(value, "modelId");
  return modelId === undefined ? undefined : { providerId: stringAt(value, "providerId") ?? "", modelId };
}

function readEntry(value: Json): ModelEntry[] {
  if (!isObject(value)) return [];
  const ref = readRef(value["ref"]) ?? readRef(value);
  if (ref === undefined) return [];
  const reasoning = objectAt(value, "reasoning");
  return [
    {
      ...ref,
      label: stringAt(value, "label") ?? ref.modelId,
      providerLabel: stringAt(value, "providerLabel"),
      contextWindow: numberAt(value, "contextWindow"),
      levels: readLevels(arrayAt(reasoning, "levels") ?? []),
      defaultLevel: stringAt(reasoning, "defaultLevel"),
      isDisabled: value["disabledReason"] !== undefined && value["disabledReason"] !== null,
    },
  ];
}

/** The same model, where both say whose it is: several providers have one of the same name. */
export const sameModel = (a: ModelRef, b: ModelRef | undefined): boolean =>
  b !== undefined &&
  a.modelId === b.modelId &&
  (a.providerId === b.providerId || a.providerId === "" || b.providerId === "");

/** The table entry of a model. */
export const entryOf = (models: readonly ModelEntry[], ref: ModelRef | undefined): ModelEntry | undefined =>
  ref === undefined ? undefined : models.find((entry) => sameModel(entry, ref));

/**
 * `before` with what a snapshot says. Only the create and resume replies have the whole model table (`isWhole`); others
 * name the current model alone, so a shorter table of theirs never replaces a longer one.
 */
export function withSnapshot(before: Settings, snapshot: JsonObject, isWhole = false): Settings {
  const settings = objectAt(snapshot, "settings");
  if (settings === undefined) return before;
  const model = objectAt(settings, "model");
  const thought = objectAt(settings, "thoughtLevel");
  const table = (arrayAt(model, "available") ?? []).flatMap(readEntry);
  const levels = arrayAt(thought, "available");
  return {
    ...before,
    model: readRef(model?.["current"]) ?? before.model,
    mode: stringAt(objectAt(settings, "mode"), "current") ?? before.mode,
    thought: stringAt(thought, "current") ?? stringAt(thought, "defaultLevel") ?? before.thought,
    models: isWhole || table.length >= before.models.length ? table : before.models,
    levels: levels === undefined ? before.levels : readLevels(levels),
  };
}

/** `before` overlaid by the patch of a `state.updated`: it names only what changed. */
export function withPatch(before: Settings, patch: JsonObject): Settings {
  const model = readRef(objectAt(patch, "model")?.["current"]);
  const said = stringAt(objectAt(patch, "thoughtLevel"), "current");
  const after = { ...before, mode: stringAt(objectAt(patch, "mode"), "current") ?? before.mode };
  const entry = model === undefined || sameModel(model, before.model) ? undefined : entryOf(before.models, model);
  // Another model has levels of its own: the patch does not name them, the table does.
  const levels = entry === undefined || entry.levels.length === 0 ? before.levels : entry.levels;
  const thought = said ?? (levels === before.levels ? before.thought : levelFor(entry, before.thought));
  return { ...after, model: model ?? before.model, levels, thought };
}

/** True when a `state.updated` patch speaks of settings. */
export const isSettingsPatch = (patch: JsonObject | undefined): patch is JsonObject =>
  patch !== undefined && (isObject(patch["mode"]) || isObject(patch["model"]) || isObject(patch["thoughtLevel"]));

export const modelValue = (ref: ModelRef): string => `${ref.providerId}\\${ref.modelId}`;

/** Reads a model option value: `provider\model`, `custom:<provider>:<model>` or a bare model id. */
export function parseModelValue(value: string, models: readonly ModelEntry[]): ModelRef {
  const custom = /^custom:([^:]*):(.+)$/.exec(value);
  if (custom !== null) return { providerId: decodeURIComponent(custom[1] ?? ""), modelId: custom[2] ?? "" };
  const at = value.indexOf("\\");
  if (at !== -1) return { providerId: value.slice(0, at), modelId: value.slice(at + 1) };
  const known = models.find((entry) => entry.modelId === value);
  return { providerId: known?.providerId ?? "", modelId: value };
}

/** The level a model is used with: the wanted one if it has it, else its default, else its first; none without levels. */
export function levelFor(entry: ModelEntry | undefined, wanted: string | undefined): string | undefined {
  if (entry === undefined) return wanted;
  if (entry.levels.length === 0) return undefined;
  if (wanted !== undefined && entry.levels.some((level) => level.value === wanted)) return wanted;
  return entry.defaultLevel ?? entry.levels[0]?.value;
}

/** A model as the backend takes it. */
export const modelSelection = (ref: ModelRef, level: string | undefined): JsonObject => ({
  providerId: ref.providerId,
  modelId: ref.modelId,
  ...(level === undefined ? {} : { options: { reasoningLevel: level } }),
});

const option = (value: string, name: string, description?: string): JsonObject =>
  description === undefined ? { value, name } : { value, name, description };

function modelOption(settings: Settings): JsonObject[] {
  const { pinnedProvider } = settings;
  const known = settings.models.filter(
    (entry) => !entry.isDisabled && (pinnedProvider === undefined || entry.providerId === pinnedProvider),
  );
  const { model } = settings;
  const hasCurrent = model === undefined || entryOf(known, model) !== undefined;
  const options = known.map((entry) => option(modelValue(entry), entry.label, entry.providerLabel));
  if (!hasCurrent && model !== undefined) options.unshift(option(modelValue(model), model.modelId));
  const current = entryOf(known, model) ?? model ?? known[0];
  if (current === undefined) return [];
  return [
    { id: "model", name: "Model", category: "model", type: "select", currentValue: modelValue(current), options },
  ];
}

function thoughtOption(settings: Settings): JsonObject[] {
  const entry = entryOf(settings.models, settings.model);
  const levels = settings.levels.length > 0 ? settings.levels : (entry?.levels ?? []);
  const current = settings.thought ?? entry?.defaultLevel ?? levels[0]?.value;
  if (current === undefined) return [];
  const options = levels.map((level) => option(level.value, level.label));
  if (!levels.some((level) => level.value === current)) options.unshift(option(current, current));
  return [
    { id: "thought", name: "Thinking", category: "thought_level", type: "select", currentValue: current, options },
  ];
}

function shownModes(current: string): typeof MODES {
  return MODES.some((mode) => mode.id === current)
    ? MODES
    : [...MODES, { id: current, name: current, description: "" }];
}

/** All config options of a session. */
export function configOptions(settings: Settings): JsonObject[] {
  const modes = shownModes(settings.mode).map((mode) => option(mode.id, mode.name, mode.description));
  return [
    ...modelOption(settings),
    { id: "mode", name: "Mode", category: "mode", type: "select", currentValue: settings.mode, options: modes },
    ...thoughtOption(settings),
  ];
}

/** The `modes` member of new, load and resume results. */
export const modeState = (settings: Settings): JsonObject => ({
  currentModeId: settings.mode,
  availableModes: shownModes(settings.mode).map((mode) => ({ ...mode })),
});

/** What tells clients about new settings. The mode is told twice: some clients read only one of the two. */
export function settingsUpdates(before: Settings | undefined, after: Settings): Update[] {
  const options: Update = { sessionUpdate: "config_option_update", configOptions: configOptions(after) };
  if (before?.mode === after.mode) return [options];
  return [{ sessionUpdate: "current_mode_update", currentModeId: after.mode }, options];
}

export const equalSettings = (a: Settings, b: Settings): boolean =>
  JSON.stringify(configOptions(a)) === JSON.stringify(configOptions(b));
