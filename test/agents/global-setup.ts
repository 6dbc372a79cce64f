/** Installs the agents the rows name, and says which of them run here. ACP_HUB_AGENTS=gemini,qwen takes these only. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

export interface Installed {
  readonly name: string;
  readonly entry: string;
  /** The Node that runs `entry`; absent: it is an executable itself. */
  readonly runtime?: string;
}

export interface NotInstalled {
  readonly name: string;
  readonly reason: string;
}

declare module "vitest" {
  interface ProvidedContext {
    readonly installed: readonly Installed[];
    readonly notInstalled: readonly NotInstalled[];
  }
}

const INSTALL = fileURLToPath(new URL("./install.mjs", import.meta.url));

export default async function setup(project: TestProject): Promise<void> {
  const wanted = (process.env["ACP_HUB_AGENTS"] ?? "").split(",").filter((name) => name !== "");
  const reports = (await run(wanted)).map((line) => JSON.parse(line) as Installed | NotInstalled);
  const installed = reports.filter((report) => "entry" in report);
  const notInstalled = reports.filter((report) => "reason" in report);
  for (const { name, reason } of notInstalled) project.vitest.logger.warn(`agent ${name} does not run here: ${reason}`);
  project.provide("installed", installed);
  project.provide("notInstalled", notInstalled);
}

function run(names: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, [INSTALL, ...names], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(out.split("\n").filter((line) => line !== ""));
      else reject(new Error(`install.mjs ended with ${code}`));
    });
  });
}
