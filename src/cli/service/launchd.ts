/** launchd, in the session of the person who is logged in. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../package-root.ts";
import { LABEL, renderPlist } from "./launchd-plist.ts";
import { lastWords, type RunTool } from "./run-tool.ts";
import type { Supervisor } from "./supervisor.ts";

/** `bootout` answers before the service is gone; `bootstrap` refuses a label that is still there (error 5). */
const BOOTSTRAP_TRIES = 10;
const BOOTSTRAP_PAUSE_MS = 300;

export function launchd(run: RunTool, userHome: string, uid: number): Supervisor {
  const file = join(userHome, "Library", "LaunchAgents", `${LABEL}.plist`);
  const domain = `gui/${uid}`;
  const service = `${domain}/${LABEL}`;
  const bootout = () => run("launchctl", ["bootout", service]);
  return {
    name: "launchd",
    file,
    dirs: [],
    logHint: (plan) => plan.logFile,
    unavailable: async () => {
      const result = await run("launchctl", ["print", domain]);
      if (result.code === 0) return undefined;
      return `launchd has no session of yours (${lastWords(result)}): run this from a terminal of the desktop session, not over ssh`;
    },
    render: (plan) => renderPlist(readFileSync(join(packageRoot(), "deploy", `${LABEL}.plist`), "utf8"), plan),
    start: async () => {
      await bootout();
      for (let attempt = 1; ; attempt += 1) {
        const result = await run("launchctl", ["bootstrap", domain, file]);
        if (result.code === 0) break;
        if (attempt === BOOTSTRAP_TRIES) throw new Error(`launchctl bootstrap: ${lastWords(result)}`);
        await new Promise((resolve) => setTimeout(resolve, BOOTSTRAP_PAUSE_MS));
      }
      // A service someone turned off stays off over logins otherwise.
      await run("launchctl", ["enable", service]);
    },
    stop: async () => {
      await bootout();
    },
    forget: () => Promise.resolve(),
    status: async () => {
      const { code, stdout } = await run("launchctl", ["print", service]);
      const pid = Number(/^\s*pid = (\d+)/m.exec(stdout)?.[1] ?? 0);
      const state = /^\s*state = (.+)$/m.exec(stdout)?.[1] ?? (code === 0 ? "unknown" : "not loaded");
      const last = /^\s*last exit code = (\d+)/m.exec(stdout)?.[1];
      return {
        isInstalled: existsSync(file),
        isRunning: state === "running",
        ...(pid > 0 && { pid }),
        detail: last === undefined || last === "0" ? state : `${state}, last exit code ${last}`,
      };
    },
    advice: () => Promise.resolve([]),
  };
}
