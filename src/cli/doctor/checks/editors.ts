/** Whether an editor runs its agent through us, and whether what it runs is still there. */
import { readFile } from "node:fs/promises";
import { parse } from "jsonc-parser";
import { arrayAt, isObject, objectAt, stringAt } from "../../../protocol/json.ts";
import { EDITORS } from "../../setup/editors.ts";
import type { DoctorContext } from "../context.ts";
import { findCommand } from "../find-command.ts";
import { type Check, type Finding, fail, ok, warn } from "../finding.ts";

type Found = Omit<Finding, "id">;

export const editors: Check<DoctorContext> = {
  id: "editors",
  async run(context) {
    const found = await Promise.all([...EDITORS.keys()].map((id) => look(id, context)));
    const all = found.flat();
    return all.length > 0
      ? all
      : [warn("no editor's settings name acp-hub", "acp-hub setup zed --write <agent>, or put it there by hand")];
  },
};

async function look(id: string, { platform, home, env }: DoctorContext): Promise<Found[]> {
  const editor = EDITORS.get(id);
  if (editor?.settings === undefined) return [];
  const file = editor.settings.file({ platform, home, env });
  const settings: unknown = parse(await readFile(file, "utf8").catch(() => "{}"));
  const entries = isObject(settings) ? objectAt(settings, editor.settings.member) : undefined;
  const found = await Promise.all(
    Object.entries(entries ?? {}).map(async ([name, value]) => {
      const command = isObject(value) ? stringAt(value, "command") : undefined;
      const args = (isObject(value) ? arrayAt(value, "args") : undefined) ?? [];
      if (command === undefined || !isOurs([name, command, ...args])) return undefined;
      const script = args.find((arg): arg is string => typeof arg === "string" && arg.startsWith("/"));
      const missing =
        (await findCommand(command, env["PATH"] ?? "")) === undefined ? command : await missingFile(script);
      if (missing === undefined) return ok(`${editor.title} runs "${name}" through acp-hub`);
      return fail(
        `${editor.title} runs "${name}" with ${missing}, which is not there`,
        `acp-hub setup ${id} --write … puts today's paths in`,
      );
    }),
  );
  return found.filter((each) => each !== undefined);
}

const isOurs = (words: readonly unknown[]): boolean =>
  words.includes("bridge") && words.some((word) => typeof word === "string" && /acp-hub|\/cli\/main\.js$/.test(word));

async function missingFile(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  return readFile(file).then(
    () => undefined,
    () => file,
  );
}
