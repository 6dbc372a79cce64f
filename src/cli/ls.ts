/** `acp-hub ls`: running instances and their sessions. */
import type { InstanceView, SessionView } from "../hub/http/views.ts";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { homePaths } from "./home.ts";
import { callHubOk } from "./local-api.ts";
import { ago, lasted, oneLine } from "./words.ts";

const USAGE = "acp-hub ls [--json] [--home DIR]";

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values } = readArgs(argv, { json: { type: "boolean" }, home: { type: "string" } } as const, USAGE, 0);
    const paths = homePaths(values.home);
    const instances = (await callHubOk(paths, "GET", "/api/instances")) as InstanceView[];
    if (values.json === true) process.stdout.write(`${JSON.stringify(instances, null, 2)}\n`);
    else process.stdout.write(instances.length === 0 ? "" : `${instances.map(describe).join("\n")}\n`);
    if (instances.length === 0 && values.json !== true) process.stderr.write("No agent is shared right now.\n");
    return 0;
  },
};

function describe(instance: InstanceView): string {
  const agent = instance.agent.title ?? instance.agent.name ?? instance.name;
  const head = `${instance.id}  ${agent}  ${instance.workspace}  ${instance.origin}, ${instance.state}, ${instance.clients} client(s)`;
  const sessions = instance.sessions.map((session) => {
    const open = session.openInteractions > 0 ? `, ${session.openInteractions} waiting for you` : "";
    const title = oneLine(session.title ?? "(no title)", 80);
    const how = `${standing(session)}${open}${left(session)}, ${ago(session.updatedAt)}`;
    return `  ${session.sessionId}  ${title}  ${how}${place(session)}`;
  });
  return [head, ...sessions].join("\n");
}

/** "running 2m". A hub that is older than this command does not say since when. */
function standing({ status, turnSince }: Partial<SessionView>): string {
  const isTold = typeof turnSince === "number" && status !== "idle";
  return isTold ? `${status} ${lasted(turnSince)}` : (status ?? "");
}

/** An older hub does not say. */
const place = ({ branch }: Partial<SessionView>): string =>
  typeof branch === "string" ? `, on ${oneLine(branch, 60)}` : "";

const left = ({ supersededBy }: SessionView): string =>
  supersededBy === undefined ? "" : `, continues at ${supersededBy}`;
