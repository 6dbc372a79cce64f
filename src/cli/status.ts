/** `acp-hub status`: is the hub running, where, with whom. Exit 3 when it is not. */
import type { Paths } from "../config/paths.ts";
import { isLoopback } from "../hub/edge.ts";
import type { InstanceView } from "../hub/http/views.ts";
import { localUrl } from "../hub/local-url.ts";
import { isObject, stringAt } from "../protocol/json.ts";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { askState } from "./doctor/context.ts";
import { EXIT } from "./exit.ts";
import { homePaths } from "./home.ts";
import { callHub, callHubOk, readHubInfo } from "./local-api.ts";
import { storageWords } from "./storage-words.ts";
import { ago } from "./words.ts";

const USAGE = "acp-hub status [--json] [--home DIR]";

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values } = readArgs(argv, { json: { type: "boolean" }, home: { type: "string" } } as const, USAGE, 0);
    const paths = homePaths(values.home);
    const isReady = await callHub(paths, "GET", "/readyz").then(
      (response) => response.status === 200,
      () => undefined,
    );
    const info = await readHubInfo(paths);
    if (isReady === undefined || info === undefined) {
      if (values.json === true) process.stdout.write(`${JSON.stringify({ running: false })}\n`);
      else process.stderr.write("The hub is not running: start it with acp-hub serve\n");
      return EXIT.unreachable;
    }
    const hub = await aboutHub(paths);
    const instances = (await callHubOk(paths, "GET", "/api/instances")) as InstanceView[];
    const storage = (await askState(paths))?.storage;
    const url = localUrl(info.host, info.port, info.basePath, info.tls);
    const isExposed = !isLoopback(info.host);
    if (values.json === true) {
      const status = {
        running: true,
        ready: isReady,
        url,
        exposed: isExposed,
        ...info,
        ...hub,
        instances: instances.length,
        storage,
      };
      process.stdout.write(`${JSON.stringify(status, null, 2)}\n`);
      return EXIT.ok;
    }
    const clients = instances.reduce((sum, instance) => sum + instance.clients, 0);
    process.stdout.write(`hub ${info.version} at ${url}, pid ${info.pid}, started ${ago(info.startedAt)}\n`);
    process.stdout.write(`${instances.length} instance(s), ${clients} client(s)\n`);
    if (hub?.newerBridge !== undefined)
      process.stdout.write(`a bridge of ${hub.newerBridge} is connected: ${HOW_TO_UPDATE[hub.startedBy]}\n`);
    if (isExposed && !info.tls)
      process.stdout.write("exposed beyond this computer without TLS: anyone on the network can read along\n");
    const { fault, lost } = storage === undefined ? {} : storageWords(storage, Date.now());
    if (fault !== undefined) process.stdout.write(`${fault.text}\n  ${fault.fix}\n`);
    if (lost !== undefined) process.stdout.write(`${lost}\n`);
    return EXIT.ok;
  },
};

const HOW_TO_UPDATE = {
  bridge: "a newer hub takes over in a moment",
  person: "end this hub and start the newer one",
  supervisor: "update the service with acp-hub service install",
} as const;

interface AboutHub {
  readonly startedBy: keyof typeof HOW_TO_UPDATE;
  readonly newerBridge?: string;
}

/** Undefined: a hub of a version that does not tell. */
async function aboutHub(paths: Paths): Promise<AboutHub | undefined> {
  const { body } = await callHub(paths, "GET", "/api/hub");
  if (!isObject(body)) return undefined;
  const [startedBy, newerBridge] = [stringAt(body, "startedBy"), stringAt(body, "newerBridge")];
  if (startedBy !== "bridge" && startedBy !== "person" && startedBy !== "supervisor") return undefined;
  return { startedBy, ...(newerBridge !== undefined && { newerBridge }) };
}
