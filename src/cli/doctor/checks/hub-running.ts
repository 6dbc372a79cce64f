/** Whether a hub runs, is ready, and is of this version. */
import { isAlive } from "../../../hub/process-alive.ts";
import { isNewerVersion } from "../../../protocol/version-order.ts";
import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok, warn } from "../finding.ts";

export const hubRunning: Check<DoctorContext> = {
  id: "hub",
  run: ({ hub, info, version, paths }) => Promise.resolve([judge({ hub, info, version, paths })]),
};

function judge({ hub, info, version, paths }: Pick<DoctorContext, "hub" | "info" | "version" | "paths">) {
  if (hub === undefined) {
    if (info === undefined) return ok("no hub runs; a bridge starts one when it needs it");
    if (isAlive(info.pid))
      return fail(
        `pid ${info.pid} says it is the hub but does not answer`,
        `look at ${paths.logDir}/hub.log; then kill ${info.pid}`,
      );
    return warn(
      `a hub died without tidying up (pid ${info.pid})`,
      "start it again: acp-hub serve, or open your editor's agent",
    );
  }
  if (hub.status !== 200) return warn("the hub is starting or stopping", "run acp-hub doctor again in a few seconds");
  if (info === undefined)
    return fail(`the hub answers but ${paths.hubInfo} is missing`, "restart it: acp-hub stop, then acp-hub serve");
  if (isNewerVersion(info.version, version))
    return warn(`the hub is newer (${info.version}) than this program (${version})`, "update this one");
  if (info.version !== version)
    return warn(
      `the hub is version ${info.version}, this is ${version}`,
      "the next bridge of this version replaces it; one you run yourself you restart, a service takes acp-hub service install",
    );
  return ok(`hub ${info.version} is ready, pid ${info.pid}`);
}
