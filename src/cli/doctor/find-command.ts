/** Where a command is, as a shell would look for it. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** The absolute path, or undefined. */
export async function findCommand(command: string, path: string): Promise<string | undefined> {
  if (command.includes("/")) return isAbsolute(command) && (await canRun(command)) ? command : undefined;
  for (const dir of path.split(delimiter)) {
    const file = join(dir, command);
    if (isAbsolute(dir) && (await canRun(file))) return file;
  }
  return undefined;
}

async function canRun(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
