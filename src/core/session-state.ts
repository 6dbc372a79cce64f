/**
 * What a late joiner has to know of a session besides its history (S5): the members of the agent's new/load/resume result, kept
 * current by the updates since. Pure.
 */
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { withHubMeta } from "../protocol/meta.ts";

export class SessionState {
  #result: JsonObject;
  #title: string | undefined;

  constructor(result: JsonObject = {}) {
    const { sessionId: _id, ...rest } = withHubMeta(result, undefined);
    this.#result = rest;
  }

  get title(): string | undefined {
    return this.#title;
  }

  /** The result a load or resume of the live session gives: as the agent gave it, with what changed since. */
  get result(): JsonObject {
    return this.#result;
  }

  /** The root says what it is now. */
  replaceResult(result: JsonObject): void {
    const { sessionId: _id, ...rest } = withHubMeta(result, undefined);
    this.#result = rest;
  }

  /** Members of a later new/load/resume result replace ours. */
  mergeResult(result: Json): void {
    if (!isObject(result)) return;
    const { sessionId: _id, ...rest } = withHubMeta(result, undefined);
    this.#result = { ...this.#result, ...rest };
  }

  /** Takes note of an update that changes state. Anything else is ignored. */
  onUpdate(update: JsonObject): void {
    switch (update["sessionUpdate"]) {
      case "current_mode_update":
        this.setMode(stringAt(update, "currentModeId"));
        return;
      case "config_option_update":
        if (Array.isArray(update["configOptions"])) this.setConfigOptions(update["configOptions"]);
        return;
      case "session_info_update":
        if ("title" in update) this.#title = stringAt(update, "title");
        return;
      default:
    }
  }

  /** Agents keep the mode in `modes`, in an option called mode, or in both; clients read either (S5). */
  setMode(modeId: string | undefined): void {
    if (modeId === undefined) return;
    this.#setCurrent("modes", "currentModeId", modeId);
    this.#setOption("mode", modeId);
  }

  setModel(modelId: string | undefined): void {
    if (modelId === undefined) return;
    this.#setCurrent("models", "currentModelId", modelId);
    this.#setOption("model", modelId);
  }

  setConfigOptions(options: Json[]): void {
    this.#result = { ...this.#result, configOptions: options };
    const mode = stringAt(optionOf(options, "mode"), "currentValue");
    if (mode !== undefined && this.#offers("modes", "availableModes", "id", mode))
      this.#setCurrent("modes", "currentModeId", mode);
    const model = stringAt(optionOf(options, "model"), "currentValue");
    if (model !== undefined && this.#offers("models", "availableModels", "modelId", model))
      this.#setCurrent("models", "currentModelId", model);
  }

  setTitle(title: string | undefined): void {
    this.#title = title;
  }

  #setCurrent(member: string, key: string, id: string): void {
    const known = objectAt(this.#result, member);
    if (known !== undefined) this.#result = { ...this.#result, [member]: { ...known, [key]: id } };
  }

  #setOption(kind: string, value: string): void {
    const options = arrayAt(this.#result, "configOptions") ?? [];
    const option = optionOf(options, kind);
    if (option === undefined || !choices(option).some((each) => each["value"] === value)) return;
    const changed = options.map((each) => (each === option ? { ...option, currentValue: value } : each));
    this.#result = { ...this.#result, configOptions: changed };
  }

  #offers(member: string, list: string, key: string, id: string): boolean {
    const offered = arrayAt(objectAt(this.#result, member), list) ?? [];
    return offered.some((each) => isObject(each) && each[key] === id);
  }
}

/** The config option that stands for the session's mode or model. */
export function optionOf(options: readonly Json[], kind: string): JsonObject | undefined {
  return options.filter(isObject).find((each) => (stringAt(each, "category") ?? each["id"]) === kind);
}

/** What a select offers, out of its groups. */
const choices = (option: JsonObject): JsonObject[] =>
  (arrayAt(option, "options") ?? [])
    .filter(isObject)
    .flatMap((each) => arrayAt(each, "options")?.filter(isObject) ?? [each]);
