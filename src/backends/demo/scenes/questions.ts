/** Scenes that ask: a form, and two permissions at once. */
import type { CreateElicitationResponse, ElicitationSchema, PermissionOption } from "@agentclientprotocol/sdk";
import type { Scene } from "./scene.ts";
import { PERMISSION } from "./work.ts";

const SCHEMA: ElicitationSchema = {
  type: "object",
  title: "A new project",
  properties: {
    language: {
      type: "string",
      title: "Language",
      oneOf: [
        { const: "ts", title: "TypeScript" },
        { const: "rs", title: "Rust" },
        { const: "go", title: "Go" },
      ],
    },
    tests: { type: "boolean", title: "With tests", default: true },
    targets: {
      type: "array",
      title: "Targets",
      items: { type: "string", enum: ["linux", "macos", "windows"] },
    },
    name: { type: "string", title: "Name", description: "Left out: the folder's name", maxLength: 40 },
  },
  required: ["language"],
};

const LANGUAGES: readonly PermissionOption[] = [
  { optionId: "ts", name: "TypeScript", kind: "allow_once" },
  { optionId: "rs", name: "Rust", kind: "allow_once" },
  { optionId: "none", name: "Neither", kind: "reject_once" },
];

export const form: Scene = {
  name: "form",
  words: ["form", "question"],
  help: "Asks with a form; where none can be shown, with buttons",
  async play(turn) {
    if (turn.canShowForms) return turn.say(summary(await turn.form("What should the project be like?", SCHEMA)));
    const toolCallId = await turn.tool({ title: "Which language?", kind: "other" });
    const choice = await turn.ask({ toolCallId, title: "Which language?" }, LANGUAGES);
    await turn.toolUpdate(toolCallId, { status: "completed" });
    await turn.say(choice === undefined ? "No answer, then." : `You chose \`${choice}\`.`);
  },
};

function summary(answer: CreateElicitationResponse): string {
  if (answer.action !== "accept") return `No form, then (\`${answer.action}\`).`;
  const content: unknown = "content" in answer ? answer.content : undefined;
  const lines = Object.entries(content ?? {}).map(([key, value]) => `- ${key}: \`${JSON.stringify(value)}\``);
  return `You answered:\n\n${lines.join("\n")}`;
}

export const two: Scene = {
  name: "two",
  words: ["two", "both"],
  help: "Asks two permissions at once",
  async play(turn) {
    const files = ["one.txt", "two.txt"];
    const answers = await Promise.all(
      files.map(async (file) => {
        const toolCallId = await turn.tool({ title: `Delete ${file}`, kind: "delete", rawInput: { file } });
        const choice = await turn.ask({ toolCallId, title: `Delete ${file}`, kind: "delete" }, PERMISSION);
        const isAllowed = choice === "allow-once" || choice === "allow-always";
        await turn.toolUpdate(toolCallId, { status: isAllowed ? "completed" : "failed" });
        return `- ${file}: ${isAllowed ? "allowed" : "rejected"}`;
      }),
    );
    await turn.say(`Both are settled:\n\n${answers.join("\n")}`);
  },
};
