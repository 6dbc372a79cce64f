/**
 * Starts a hub that may find another in its place (ADR 7): one that is older makes room when it is asked, and its lock becomes ours
 * without a moment in between. For hubs that bridges and supervisors start; a person is told instead.
 */

import { HubRunningError, type RunningHub, type ServeOptions, serveHub } from "../../hub/serve.ts";
import { isObject, stringAt } from "../../protocol/json.ts";
import { UnreachableError } from "../exit.ts";
import { callHub, readHubInfo } from "../local-api.ts";

export type TakeOverOptions = ServeOptions & { readonly startedBy: "bridge" | "supervisor" };

/** `accepted`: it goes. `busy`: it starts, ends, or makes room for somebody else: look again. */
type Answer = "accepted" | "busy" | "not-newer" | "refused";

const LOOK_MS = 20;
/** A hub has ended within a few seconds of being asked; one that has not by then is not waited for. */
const LIMIT_MS = 20_000;
/** A service whose place is held by a newer hub of a bridge's: that one ends when nobody needs it. */
const STAND_BY_MS = 2000;

/** The hub that runs now, or the refusal when another keeps its place. Rejects as `serveHub` does. */
export async function takeOver(options: TakeOverOptions): Promise<RunningHub | HubRunningError> {
  let deadline = Date.now() + LIMIT_MS;
  let accepted: number | undefined;
  let oldPort: number | undefined;
  for (;;) {
    const result = await listen(options, oldPort);
    if (!(result instanceof HubRunningError)) return result;
    oldPort = (await readHubInfo(options.paths))?.port ?? oldPort;
    const answer = result.pid === accepted ? "busy" : await ask(options);
    if (answer === "accepted") accepted = result.pid;
    const isStandingBy = answer === "not-newer" && options.startedBy === "supervisor";
    if (isStandingBy) {
      if (deadline !== Number.POSITIVE_INFINITY) options.log.warn({ pid: result.pid }, "a newer hub runs: standing by");
      deadline = Number.POSITIVE_INFINITY;
    } else if (answer === "refused" || answer === "not-newer" || Date.now() > deadline) return result;
    await new Promise((resolve) => setTimeout(resolve, isStandingBy ? STAND_BY_MS : LOOK_MS));
  }
}

/** A taken port is no error for a bridge's hub: it takes the one clients knew, or a free one, and writes it to hub.json (contract §1). */
async function listen(options: TakeOverOptions, oldPort: number | undefined): Promise<RunningHub | HubRunningError> {
  const { config, startedBy } = options;
  const ports =
    startedBy === "supervisor" ? [config.port] : [config.port, ...(oldPort === undefined ? [] : [oldPort]), 0];
  for (const [index, port] of ports.entries()) {
    try {
      return await serveHub({ ...options, config: { ...config, port } });
    } catch (error) {
      if (error instanceof HubRunningError) return error;
      const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
      if (!isTaken || index === ports.length - 1) throw error;
    }
  }
  throw new Error("unreachable: the last port was tried");
}

async function ask({ paths, version, startedBy }: TakeOverOptions): Promise<Answer> {
  try {
    const { status, body } = await callHub(paths, "POST", "/api/hub/successor", {
      version,
      pid: process.pid,
      startedBy,
    });
    const code = isObject(body) ? stringAt(body, "code") : undefined;
    if (status === 202) return "accepted";
    if (code === "making-room") return "busy";
    return code === "not-newer" ? "not-newer" : "refused";
  } catch (error) {
    if (error instanceof UnreachableError) return "busy";
    throw error;
  }
}
