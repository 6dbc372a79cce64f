/** Whether the service, where one is installed, runs the acp-hub that is here. */
import { readFile } from "node:fs/promises";
import { supervisorOf } from "../../service.ts";
import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok, warn } from "../finding.ts";

export const service: Check<DoctorContext> = {
  id: "service",
  async run({ platform, env }) {
    if (platform !== "linux" && platform !== "darwin") return [ok("there is no service on this system")];
    const supervisor = supervisorOf(platform, env);
    const unit = await readFile(supervisor.file, "utf8").catch(() => undefined);
    if (unit === undefined) return [ok("no service is installed; bridges start the hub when they need it")];
    const gone = await missingProgram(unit);
    if (gone !== undefined)
      return [fail(`the service runs ${gone}, which is not there`, "acp-hub service install puts today's paths in")];
    const { isRunning, detail } = await supervisor.status();
    if (isRunning) return [ok(`the service runs (${supervisor.name})`)];
    return [
      warn(
        `the service is installed but not running (${detail})`,
        "acp-hub service install starts it and says why it does not",
      ),
    ];
  },
};

/** Programs of a removed Node version stay in units. */
async function missingProgram(unit: string): Promise<string | undefined> {
  const words =
    /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? /ProgramArguments<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(unit)?.[1];
  for (const match of (words ?? "").matchAll(/[">](\/[^"<]*)["<]/g)) {
    const file = match[1] ?? "";
    if (/\.(js|mjs)$|\/node$/.test(file) && !(await isThere(file))) return file;
  }
  return undefined;
}

const isThere = (file: string): Promise<boolean> =>
  readFile(file).then(
    () => true,
    () => false,
  );
