/** Scenes of words alone. */
import type { Turn } from "../turn.ts";
import type { Scene } from "./scene.ts";

const ANSWER = `This is the **demo agent**: nothing it shows is real, and no file is touched.

It can show what a coding agent does while several clients watch. Send \`help\` for the list, or try \`diff\`.`;

export const answer: Scene = {
  name: "hello",
  words: ["hello", "hi"],
  help: "A short answer in markdown",
  async play(turn) {
    await turn.think("The prompt names no scene, so a short answer will do.");
    await turn.say(ANSWER);
  },
};

const PARAGRAPH =
  "A session is a long conversation, and a phone on a train reads it with gaps. What was missed has to come back in " +
  "order, joined into few messages, and nothing may be shown twice. ";
const LONG_DEFAULT = 12;
const LONG_MAX = 2000;

export const long: Scene = {
  name: "long",
  words: ["long"],
  help: "Many paragraphs: `long 40` says how many",
  async play(turn) {
    const asked = Number(/\blong\s+(\d{1,6})/.exec(turn.words)?.[1] ?? LONG_DEFAULT);
    const count = Math.min(Math.max(asked, 1), LONG_MAX);
    for (let index = 1; index <= count; index += 1) await turn.say(`**${index} of ${count}.** ${PARAGRAPH}\n\n`);
  },
};

export const image: Scene = {
  name: "image",
  words: [],
  help: "Send a picture along: the agent says what arrived",
  async play(turn) {
    const images = turn.prompt.flatMap((block) => (block.type === "image" ? [block] : []));
    if (images.length === 0) return turn.say("There is no picture in this prompt.");
    const list = images.map((one) => `- ${one.mimeType}, ${bytesOf(one.data)} bytes`).join("\n");
    await turn.say(`I got ${images.length === 1 ? "a picture" : `${images.length} pictures`}:\n\n${list}`);
  },
};

/** The size of what a base64 text stands for. */
function bytesOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}

/** The list of scenes is passed in: it holds this one. */
export function help(scenes: () => readonly Scene[]): Scene {
  return {
    name: "help",
    words: ["help"],
    help: "What this agent can show",
    async play(turn: Turn) {
      const list = scenes().map((scene) => `- \`${scene.name}\`: ${scene.help}`);
      await turn.say(`Put one of these words into a prompt:\n\n${list.join("\n")}`);
    },
  };
}
