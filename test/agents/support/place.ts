/** A home of its own for one run of an agent, and who still lives there. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentRow, Place } from "../rows/row.ts";

export function makePlace(modelUrl: string): Place {
  const home = mkdtempSync(join(tmpdir(), "acp-hub-agent-"));
  const cwd = join(home, "work");
  mkdirSync(cwd);
  mkdirSync(join(home, "tmp"));
  return { home, cwd, modelUrl };
}

export const removePlace = (place: Place): void => rmSync(place.home, { recursive: true, force: true, maxRetries: 5 });

/** Nothing of the developer's own settings, and no way out: the model's server is the proxy, and lets nobody through. */
export function environmentOf(row: AgentRow, place: Place): Record<string, string> {
  const { home, modelUrl } = place;
  const loopback = "127.0.0.1,localhost";
  return {
    PATH: process.env["PATH"] ?? "",
    LANG: "C.UTF-8",
    HOME: home,
    TMPDIR: join(home, "tmp"),
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local", "share"),
    XDG_STATE_HOME: join(home, ".local", "state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    HTTP_PROXY: modelUrl,
    HTTPS_PROXY: modelUrl,
    http_proxy: modelUrl,
    https_proxy: modelUrl,
    NO_PROXY: loopback,
    no_proxy: loopback,
    ...row.configure(place),
  };
}

/** Living processes of one group. Ended ones nobody has reaped yet do not count. Linux only. */
export function livingGroup(group: number): number[] {
  return readdirSync("/proc").flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) return [];
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // After the name, which may hold anything: state, parent, group.
      const [state, , groupText] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state !== "Z" && Number(groupText) === group ? [pid] : [];
    } catch {
      return [];
    }
  });
}

/** Processes that were started with this place as their HOME, whatever group they moved to since. Linux only. */
export function processesOf(place: Place): number[] {
  const mark = `HOME=${place.home}\0`;
  return readdirSync("/proc").flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) return [];
    try {
      return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(`\0${mark}`) ? [pid] : [];
    } catch {
      // Ended meanwhile, or not ours to look at.
      return [];
    }
  });
}

/** True once a file below `folder` of the home holds `text`. */
export function isKept(place: Place, folder: string, text: string): boolean {
  return readdirSync(join(place.home, folder), { recursive: true, withFileTypes: true }).some((entry) => {
    if (!entry.isFile()) return false;
    try {
      return readFileSync(join(entry.parentPath, entry.name), "latin1").includes(text);
    } catch {
      return false;
    }
  });
}
