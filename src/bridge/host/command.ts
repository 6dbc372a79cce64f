/** What to start for a terminal an agent asks for. Agents put a whole shell line into `command` as often as a program (S7). */
import { accessSync, constants } from "node:fs";

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

/** What no plain name of a program holds: the line is for a shell. */
const SHELL = /[\s;&|<>()$`"'*?[\]{}~#!\\]/;

/** `args` given: exactly that. Else a program of that name, or a line for the shell. */
export function programOf(command: string, args: readonly string[] | undefined): Program {
  if (args !== undefined && args.length > 0) return { file: command, args };
  if (!SHELL.test(command) || isExecutable(command)) return { file: command, args: [] };
  return process.platform === "win32"
    ? { file: process.env["ComSpec"] ?? "cmd.exe", args: ["/d", "/s", "/c", command] }
    : { file: "/bin/sh", args: ["-c", command] };
}

/** A program whose path has spaces in it. */
function isExecutable(path: string): boolean {
  if (!path.includes("/")) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
