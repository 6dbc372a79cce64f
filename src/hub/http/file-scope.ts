/** Which directories the files of a session are served from (contract §3). */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { isInside } from "../../bridge/host/inside.ts";
import type { MirrorSession } from "../../core/mirror/session.ts";
import type { Instance } from "../instance.ts";
import type { Registry } from "../registry.ts";
import { instanceOr404 } from "./instance-routes.ts";
import { Problem } from "./problem.ts";

export interface FileRules {
  /** `create.roots`. */
  readonly createRoots: readonly string[];
  /** Never served, whatever stands around them: the hub's keys, database, sockets and configuration. Names begin with these. */
  readonly hidden: readonly string[];
}

export interface FileScope {
  /** Directories; what lies beneath may be read. */
  readonly roots: readonly string[];
  /** The absolute path of what a request names. */
  resolve(path: string): string;
  /** True for a path, links resolved, that is the hub's own. */
  isHidden(path: string): boolean;
}

/** Throws the `Problem` to answer with: no such instance or session. */
export function fileScope(
  rules: FileRules,
  registry: Registry,
  instanceId: string,
  sessionId: string,
  isStarting: boolean,
): FileScope {
  const instance = instanceOr404(registry, instanceId, isStarting);
  const session = [...instance.mirror.sessions].find((each) => each.id === sessionId);
  if (session === undefined) throw new Problem(404, "No such session", { code: "unknown-session" });
  const { cwd } = session.info;
  const hidden = rules.hidden.map(realOrPlain);
  return {
    roots: rootsOf(rules, instance, session),
    resolve: (path) => resolve(cwd, path),
    isHidden: (path) => hidden.some((name) => path.startsWith(name)),
  };
}

/** A session of the editor's: its directories. A remote one's: those of them the owner opened otherwise. */
function rootsOf(rules: FileRules, instance: Instance, session: MirrorSession<Buffer>): readonly string[] {
  if (session.info.openedBy === "primary") return directoriesOf(session);
  const owners = [...instance.mirror.sessions].filter((each) => each.info.openedBy === "primary");
  const opened = [...rules.createRoots, ...owners.flatMap(directoriesOf)].map(realOrPlain);
  return directoriesOf(session).filter((root) => opened.some((owned) => isInside(owned, realOrPlain(root))));
}

const directoriesOf = (session: MirrorSession<Buffer>): readonly string[] => session.info.roots ?? [session.info.cwd];

function realOrPlain(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
