/** Reads what an agent asks into what a person is shown. Pure. */
import { type InteractionCard, mergeCard, type SettledCard } from "../../client/index.ts";
import { ACP } from "../../protocol/acp.ts";
import type { SettledNotice } from "../../protocol/hub-methods.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { atTime } from "../ui/time.ts";

export interface PermissionChoice {
  readonly optionId: string;
  readonly name: string;
  readonly kind: string;
}

export interface DiffPart {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

export type Question =
  | {
      readonly kind: "permission";
      readonly title: string;
      readonly toolKind: string;
      /** A shell command or another text that is the whole of what will happen. */
      readonly command: string | undefined;
      readonly cwd: string | undefined;
      readonly description: string | undefined;
      readonly diffs: readonly DiffPart[];
      readonly locations: readonly string[];
      readonly texts: readonly string[];
      readonly rawInput: JsonObject | undefined;
      readonly choices: readonly PermissionChoice[];
    }
  | { readonly kind: "form"; readonly message: string; readonly schema: JsonObject | undefined }
  | { readonly kind: "url"; readonly message: string; readonly url: string };

/** `known`: the tool call's card as the transcript has it; agents leave out of the request what they told before. */
export function readQuestion(card: InteractionCard, known: JsonObject = {}): Question {
  if (card.method === ACP.elicitationCreate) return readElicitation(card.params);
  const call = mergeCard(known, objectAt(card.params, "toolCall") ?? {});
  const input = objectAt(call, "rawInput");
  const content = (arrayAt(call, "content") ?? []).filter(isObject);
  return {
    kind: "permission",
    title: stringAt(call, "title") ?? "The agent asks for permission",
    toolKind: stringAt(call, "kind") ?? "other",
    command: commandOf(input),
    cwd: stringAt(input, "cwd") ?? stringAt(input, "workdir"),
    description: stringAt(input, "description"),
    diffs: content.filter((part) => part["type"] === "diff").map(readDiff),
    locations: (arrayAt(call, "locations") ?? []).filter(isObject).map(locationText),
    texts: content.map((part) => stringAt(objectAt(part, "content"), "text")).filter((text) => text !== undefined),
    rawInput: input,
    choices: (arrayAt(card.params, "options") ?? []).filter(isObject).map(readChoice),
  };
}

/** One line for lists and notifications. */
export function questionTitle(card: InteractionCard): string {
  const question = readQuestion(card);
  return question.kind === "permission" ? question.title : plainLine(question.message);
}

/** The first line of Markdown, without its signs. An underscore is more often part of a name. */
export function plainLine(markdown: string): string {
  const [line = ""] = markdown
    .replaceAll(/[*`]|^[#>\s]+/gm, "")
    .trim()
    .split("\n");
  return line;
}

export function commandOf(input: JsonObject | undefined): string | undefined {
  const command = input?.["command"] ?? input?.["cmd"];
  if (typeof command === "string") return command;
  if (Array.isArray(command) && command.every((part) => typeof part === "string")) return command.map(quoted).join(" ");
  return undefined;
}

export function readDiff(part: JsonObject): DiffPart {
  return {
    path: stringAt(part, "path") ?? "",
    oldText: stringAt(part, "oldText") ?? "",
    newText: stringAt(part, "newText") ?? "",
  };
}

export function locationText(location: JsonObject): string {
  const line = location["line"];
  return `${stringAt(location, "path") ?? ""}${typeof line === "number" ? `:${line}` : ""}`;
}

/** "Allowed by Pixel 14:02", "Answered by Zed 14:02. Yours came later.", "Withdrawn by the agent". */
export function settledText(notice: SettledNotice, now: number, own?: SettledCard["own"]): string {
  const { outcome, by, at } = notice;
  const time = atTime(at, now);
  switch (outcome.action) {
    case "answered": {
      const who = own === "applied" ? "by this device" : `by ${by.name}`;
      return `${answeredVerb(outcome)} ${who} ${time}${own === "lost" ? ". Yours came later." : ""}`;
    }
    case "cancelled":
      return `Cancelled with the turn ${time}`;
    case "withdrawn":
      return `Withdrawn by the agent ${time}`;
    case "ended":
      return `Ended with the session ${time}`;
  }
}

function answeredVerb(outcome: SettledNotice["outcome"]): string {
  if (outcome.optionKind?.startsWith("allow") === true)
    return outcome.optionKind === "allow_always" ? "Always allowed" : "Allowed";
  if (outcome.optionKind?.startsWith("reject") === true) return "Rejected";
  if (outcome.elicitation === "decline") return "Declined";
  if (outcome.elicitation === "cancel") return "Dismissed";
  return "Answered";
}

function readElicitation(params: JsonObject): Question {
  const message = stringAt(params, "message") ?? "The agent asks";
  const url = stringAt(params, "url");
  if (params["mode"] === "url" || (url !== undefined && params["requestedSchema"] === undefined)) {
    return { kind: "url", message, url: url ?? "" };
  }
  return { kind: "form", message, schema: objectAt(params, "requestedSchema") };
}

function readChoice(option: JsonObject): PermissionChoice {
  const optionId = stringAt(option, "optionId") ?? "";
  return { optionId, name: stringAt(option, "name") ?? optionId, kind: stringAt(option, "kind") ?? "" };
}

/** Shown as a shell would need it: an argument with a space is one argument. */
const quoted = (part: string): string => (/^[\w@%+=:,./-]+$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`);
