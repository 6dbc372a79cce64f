/** systemd's user manager. */
import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { packageRoot } from "../package-root.ts";
import { lastWords, type RunTool } from "./run-tool.ts";
import type { ServiceStatus, Supervisor } from "./supervisor.ts";
import { renderUnit, UNIT } from "./systemd-unit.ts";

export function systemd(run: RunTool, configHome: string): Supervisor {
  const file = join(configHome, "systemd", "user", UNIT);
  const control = (...args: string[]) => run("systemctl", ["--user", ...args]);
  const must = async (...args: string[]): Promise<void> => {
    const result = await control(...args);
    if (result.code !== 0) throw new Error(`systemctl --user ${args.join(" ")}: ${lastWords(result)}`);
  };
  return {
    name: "systemd",
    file,
    dirs: [dirname(file), dirname(dirname(file))],
    logHint: () => "journalctl --user -u acp-hub",
    unavailable: async () => {
      const result = await control("show-environment");
      if (result.code === 0) return undefined;
      if (result.code === 127) return "There is no systemctl here: run acp-hub serve under your own supervisor";
      return `systemd's user manager does not answer (${lastWords(result)}): log in as this user, or turn on lingering with sudo loginctl enable-linger ${userInfo().username}`;
    },
    render: (plan) => renderUnit(readFileSync(join(packageRoot(), "deploy", UNIT), "utf8"), plan),
    start: async () => {
      await must("daemon-reload");
      await must("enable", UNIT);
      // `restart` starts it too, and takes a changed unit into use.
      await must("restart", UNIT);
    },
    stop: async () => {
      await control("disable", "--now", UNIT);
    },
    forget: async () => {
      await control("daemon-reload");
      await control("reset-failed", UNIT);
    },
    status: () => statusOf(control, file),
    advice: async () => {
      const { username } = userInfo();
      const result = await run("loginctl", ["show-user", username, "--property=Linger"]);
      return /Linger=yes/.test(result.stdout)
        ? []
        : [`It ends when you log out; to keep it running: sudo loginctl enable-linger ${username}`];
    },
  };
}

async function statusOf(control: (...args: string[]) => ReturnType<RunTool>, file: string): Promise<ServiceStatus> {
  const { stdout, code } = await control("show", UNIT, "--property=ActiveState,SubState,MainPID,Result");
  const values = new Map(
    stdout.split("\n").map((line): [string, string] => {
      const equals = line.indexOf("=");
      return [line.slice(0, equals), line.slice(equals + 1)];
    }),
  );
  const pid = Number(values.get("MainPID") ?? 0);
  const state = values.get("ActiveState") ?? (code === 0 ? "unknown" : "unreachable");
  const result = values.get("Result") ?? "success";
  return {
    isInstalled: existsSync(file),
    isRunning: state === "active",
    ...(pid > 0 && { pid }),
    detail: [state, values.get("SubState"), result === "success" ? undefined : result].filter(Boolean).join(", "),
  };
}
