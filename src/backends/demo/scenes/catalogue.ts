/** Which scene a prompt gets. */
import type { Turn } from "../turn.ts";
import { fail, later } from "./odd.ts";
import { form, two } from "./questions.ts";
import type { Scene } from "./scene.ts";
import { answer, help, image, long } from "./talk.ts";
import { diff, plan, terminal } from "./work.ts";

export const SCENES: readonly Scene[] = [
  help(() => SCENES),
  diff,
  plan,
  terminal,
  form,
  two,
  long,
  image,
  later,
  fail,
  answer,
];

/** A picture first, then a slash command, then the first scene one of whose words stands in the prompt. */
export function sceneFor(turn: Turn): Scene {
  if (turn.prompt.some((block) => block.type === "image")) return image;
  const command = /^\s*\/(\w+)/.exec(turn.words)?.[1];
  const words = new Set(turn.words.match(/\w+/g));
  const named = SCENES.find((scene) => scene.name === command);
  return named ?? SCENES.find((scene) => scene.words.some((word) => words.has(word))) ?? answer;
}
