/** Reads a bridge's hello where it comes in (contract §7). */
import { arrayAt, isObject, type Json, type JsonObject, numberAt, stringAt } from "../protocol/json.ts";
import { LINK_PROTOCOL, type LinkHello } from "../protocol/link.ts";

type Live = NonNullable<LinkHello["sessions"]>[number];

/** The hello, or what is wrong with it. Members nobody knows are kept; what is not needed and malformed is left out. */
export function readHello(params: JsonObject | undefined): LinkHello | string {
  if (params === undefined) return "hello needs parameters";
  const { proof: _proof, remoteToken: _token, agent: _agent, sessions: _sessions, ...rest } = params;
  if (numberAt(params, "protocol") !== LINK_PROTOCOL) return `this hub speaks link protocol ${LINK_PROTOCOL}`;
  const [instanceId, bridgeVersion, workspace, name] = ["instanceId", "bridgeVersion", "workspace", "name"].map((key) =>
    stringAt(params, key),
  );
  if (instanceId === undefined) return '"instanceId" must be a string';
  if (bridgeVersion === undefined) return '"bridgeVersion" must be a string';
  if (workspace === undefined) return '"workspace" must be a string';
  if (name === undefined) return '"name" must be a string';
  const [pid, startedAt] = [numberAt(params, "pid"), numberAt(params, "startedAt")];
  if (pid === undefined) return '"pid" must be a number';
  if (startedAt === undefined) return '"startedAt" must be a number';
  const { origin } = params;
  if (origin !== "editor" && origin !== "headless") return '"origin" must be "editor" or "headless"';
  return {
    ...rest,
    protocol: LINK_PROTOCOL,
    features: (arrayAt(params, "features") ?? []).filter((feature) => typeof feature === "string"),
    bridgeVersion,
    instanceId,
    pid,
    startedAt,
    workspace,
    name,
    origin,
    ...optionalOf(params),
  };
}

function optionalOf(params: JsonObject): Pick<LinkHello, "proof" | "remoteToken" | "agent" | "sessions"> {
  const [proof, remoteToken, agent] = [
    stringAt(params, "proof"),
    stringAt(params, "remoteToken"),
    stringAt(params, "agent"),
  ];
  return {
    ...(proof !== undefined && { proof }),
    ...(remoteToken !== undefined && { remoteToken }),
    ...(agent !== undefined && { agent }),
    ...(params["sessions"] !== undefined && { sessions: (arrayAt(params, "sessions") ?? []).flatMap(readLive) }),
  };
}

function readLive(value: Json): Live[] {
  if (!isObject(value)) return [];
  const [sessionId, epoch, cwd] = [stringAt(value, "sessionId"), stringAt(value, "epoch"), stringAt(value, "cwd")];
  return sessionId === undefined || epoch === undefined || cwd === undefined ? [] : [{ sessionId, epoch, cwd }];
}
