/**
 * What a late joiner has to know of a session besides its history (S5): the members of the agent's new/load/resume result, kept
 * current by the updates since. Pure.
 */
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";

export class SessionState {
  #result: JsonObject;
  #title: string | undefined;

  constructor(result: JsonObject = {}) {
    const { sessionId: _id, _meta: _ours, ...rest } = result;
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
    const { sessionId: _id, _meta: _ours, ...rest } = result;
    this.#result = rest;
  }

  /** Members of a later new/load/resume result replace ours. */
  mergeResult(result: Json): void {
    if (!isObject(result)) return;
    const { sessionId: _id, _meta: _ours, ...rest } = result;
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

  setMode(modeId: string | undefined): void {
    const modes = objectAt(this.#result, "modes");
    if (modes !== undefined && modeId !== undefined)
      this.#result = { ...this.#result, modes: { ...modes, currentModeId: modeId } };
  }

  setModel(modelId: string | undefined): void {
    const models = objectAt(this.#result, "models");
    if (models !== undefined && modelId !== undefined)
      this.#result = { ...this.#result, models: { ...models, currentModelId: modelId } };
  }

  setConfigOptions(options: Json[]): void {
    this.#result = { ...this.#result, configOptions: options };
  }

  setTitle(title: string | undefined): void {
    this.#title = title;
  }
}
