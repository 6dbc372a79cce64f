/** Open interactions as the command line knows them: finding one by what a person typed, and saying what it asks. */
import type { Paths } from "../config/paths.ts";
import { ACP } from "../protocol/acp.ts";
import type { OpenInteraction } from "../protocol/hub-methods.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { UsageError } from "./exit.ts";
import { callHubOk } from "./local-api.ts";
import { ago, oneLine } from "./words.ts";

export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  readonly kind: string;
}

/** Oldest first. Rejects with `UnreachableError` when no hub answers. */
export async function openInteractions(paths: Paths): Promise<readonly OpenInteraction[]> {
  return (await callHubOk(paths, "GET", "/api/interactions")) as OpenInteraction[];
}

/** By its id, or by a beginning of it that fits no other. */
export function findInteraction(all: readonly OpenInteraction[], typed: string): OpenInteraction {
  const exact = all.find((each) => each.interactionId === typed);
  if (exact !== undefined) return exact;
  const [found, another] = all.filter((each) => each.interactionId.startsWith(typed));
  if (found === undefined) throw new Error(`There is no open interaction "${typed}" (it may be settled by now)`);
  if (another !== undefined) throw new UsageError(`"${typed}" fits several interactions: type more of the id`);
  return found;
}

/** The one interaction a command line names. */
export function interactionNamed([id]: readonly string[], usage: string): string {
  if (id === undefined) throw new UsageError(`Name the interaction (acp-hub interactions shows them)\nUsage: ${usage}`);
  return id;
}

export function optionsOf(interaction: OpenInteraction): readonly PermissionOption[] {
  return (arrayAt(paramsOf(interaction), "options") ?? []).filter(isObject).map((option) => ({
    optionId: stringAt(option, "optionId") ?? "",
    name: stringAt(option, "name") ?? stringAt(option, "optionId") ?? "",
    kind: stringAt(option, "kind") ?? "",
  }));
}

export const isPermission = (interaction: OpenInteraction): boolean => interaction.method === ACP.requestPermission;

/** What is asked, in full: nobody approves blind. */
export function describeInteraction(interaction: OpenInteraction): string {
  const params = paramsOf(interaction);
  const session = interaction.sessionId === undefined ? "" : `, session ${interaction.sessionId}`;
  const head = `${interaction.interactionId}  asked ${ago(interaction.openedAt)}${session}`;
  const body = isPermission(interaction)
    ? [titleOf(params), ...inputOf(params), ...optionsOf(interaction).map(optionLine)]
    : [stringAt(params, "message") ?? "(a form)", ...fieldsOf(params)];
  return [head, ...body.map((line) => `  ${oneLine(line, 2000)}`)].join("\n");
}

export const titleOf = (params: JsonObject): string => stringAt(objectAt(params, "toolCall"), "title") ?? "(no title)";

function inputOf(params: JsonObject): string[] {
  const input = objectAt(params, "toolCall")?.["rawInput"];
  return input === undefined || input === null ? [] : [`input: ${JSON.stringify(input)}`];
}

const optionLine = (option: PermissionOption): string => `--option ${option.optionId} ${option.name} (${option.kind})`;

function fieldsOf(params: JsonObject): string[] {
  if (params["mode"] === "url") return [`open: ${stringAt(params, "url") ?? ""}`];
  const schema = objectAt(params, "requestedSchema");
  const required = new Set(arrayAt(schema, "required") ?? []);
  return Object.entries(objectAt(schema, "properties") ?? {}).map(([name, field]) => {
    const words = isObject(field) ? (stringAt(field, "title") ?? stringAt(field, "description") ?? "") : "";
    return `${name}${required.has(name) ? " (required)" : ""}: ${words}`;
  });
}

export function paramsOf(interaction: OpenInteraction): JsonObject {
  return isObject(interaction.params) ? interaction.params : {};
}
