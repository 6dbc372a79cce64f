/** Sends an answer to an interaction and says how it went. Exit 0 only when it is the one that counts. */
import type { Paths } from "../config/paths.ts";
import type { OpenInteraction } from "../protocol/hub-methods.ts";
import { isObject, type Json, objectAt, stringAt } from "../protocol/json.ts";
import { EXIT } from "./exit.ts";
import { callHub } from "./local-api.ts";
import { isPermission, paramsOf, titleOf } from "./open-interactions.ts";
import { oneLine } from "./words.ts";

export interface AnswerChoice {
  readonly answer: Json;
  /** What it does, for people: "allowed", "denied". */
  readonly words: string;
}

export async function answerInteraction(
  paths: Paths,
  interaction: OpenInteraction,
  choice: AnswerChoice,
  isJson: boolean,
): Promise<number> {
  const id = encodeURIComponent(interaction.interactionId);
  const response = await callHub(paths, "POST", `/api/interactions/${id}/answer`, { answer: choice.answer });
  const body = isObject(response.body) ? response.body : {};
  const isApplied = response.status === 200;
  if (isJson) {
    const { interactionId } = interaction;
    process.stdout.write(`${JSON.stringify({ interactionId, applied: isApplied, ...body })}\n`);
  }
  const params = paramsOf(interaction);
  const what = isPermission(interaction) ? titleOf(params) : (stringAt(params, "message") ?? "the form");
  const words = isApplied ? `${choice.words}: ${what}` : refusalOf(body);
  process.stderr.write(`${isApplied ? "" : "acp-hub: "}${oneLine(words, 300)}\n`);
  return isApplied ? EXIT.ok : EXIT.failed;
}

function refusalOf(body: Record<string, unknown>): string {
  const winner = isObject(body) ? stringAt(objectAt(body, "settledBy"), "name") : undefined;
  const detail = isObject(body) ? stringAt(body, "detail") : undefined;
  return winner === undefined ? (detail ?? "the hub did not take the answer") : `${winner} has answered already`;
}
