/**
 * No power of its own in a remote client's new, load, resume and fork (contract §2): directories stay inside what the owner
 * opened, MCP servers are the owner's by name, and of `_meta` only known keys reach the agent, which may take process options
 * there. Holders of `admin` are not judged: they are the owner.
 */
import { realpathSync } from "node:fs";
import { isAbsolute, normalize, relative, sep } from "node:path";
import { isInside } from "../bridge/host/inside.ts";
import type { ParamsFilter, ParamsVerdict } from "../core/mirror/gate.ts";
import type { RpcError } from "../protocol/envelope.ts";
import { hubError, invalidParams, RPC } from "../protocol/errors.ts";
import { isObject, type Json, type JsonObject, put, stringAt } from "../protocol/json.ts";
import { HUB_META } from "../protocol/meta.ts";
import type { Instance } from "./instance.ts";

/** What the owner's configuration lets remote sessions have. */
export interface RemoteRules {
  /** `create.roots`: absolute directories. */
  readonly createRoots: readonly string[];
  /** `remote.mcpServers`: what a remote client may name, and the definition (an ACP `McpServer`) the agent gets instead. */
  readonly remoteMcpServers: Readonly<Record<string, unknown>>;
  /** `remote.metaKeys`: keys of `_meta` that pass besides `acp-hub` and `zcode`. */
  readonly metaKeys: readonly string[];
}

/** Kept of what was ignored: the rest is as telling. */
const IGNORED_MAX = 64;
const NAME_MAX = 200;

/** A filter per instance: its workspace is one of the directories its remote sessions may have. */
export function paramsFilters(rules: RemoteRules): (instance: Pick<Instance, "hello">) => ParamsFilter {
  return (instance) => (_method, params, scopes) => {
    if (scopes.has("admin")) return { ok: true, params, ignored: [] };
    return withoutPower(rules, [...rules.createRoots, ...workspaceOf(instance)], params);
  };
}

/** The root of the file system is nobody's project: editors started from a desktop run there, and it would open everything. */
function workspaceOf(instance: Pick<Instance, "hello">): readonly string[] {
  const { workspace } = instance.hello;
  return normalize(`${workspace}${sep}..`) === normalize(workspace) ? [] : [workspace];
}

function withoutPower(rules: RemoteRules, roots: readonly string[], params: JsonObject): ParamsVerdict {
  const ignored: string[] = [];
  const filtered: JsonObject = { ...params };
  const error = placeDirectories(filtered, resolveAll(roots));
  if (error !== undefined) return { ok: false, error };
  if (filtered["mcpServers"] !== undefined) filtered["mcpServers"] = ownServers(rules, filtered["mcpServers"], ignored);
  const meta = filtered["_meta"];
  if (isObject(meta)) filtered["_meta"] = knownMeta(rules, meta, ignored);
  else delete filtered["_meta"];
  return { ok: true, params: filtered, ignored: ignored.slice(0, IGNORED_MAX) };
}

interface Root {
  /** As configured. */
  readonly path: string;
  readonly real: string;
}

/** Roots that do not exist hold nothing. */
function resolveAll(roots: readonly string[]): Root[] {
  return roots.flatMap((path) => {
    const real = resolveDirectory(path);
    return real === undefined ? [] : [{ path: normalize(path), real }];
  });
}

function resolveDirectory(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Puts the judged directories into `params`; the error names the field that is refused. */
function placeDirectories(params: JsonObject, roots: readonly Root[]): RpcError | undefined {
  const { cwd, additionalDirectories: more } = params;
  if (cwd !== undefined) {
    if (typeof cwd !== "string") return invalidParams("cwd", "must be a string");
    const placed = place(cwd, roots);
    if (placed === undefined) return refused("cwd");
    params["cwd"] = placed;
  }
  if (more === undefined || more === null) return undefined;
  if (!Array.isArray(more)) return invalidParams("additionalDirectories", "must be a list of strings");
  const placed: string[] = [];
  for (const entry of more) {
    if (typeof entry !== "string") return invalidParams("additionalDirectories", "must be a list of strings");
    const inside = place(entry, roots);
    if (inside === undefined) return refused("additionalDirectories");
    placed.push(inside);
  }
  params["additionalDirectories"] = placed;
  return undefined;
}

const refused = (field: string): RpcError =>
  hubError(
    RPC.forbidden,
    "forbidden-parameter",
    `"${field}" has to exist inside the directories this hub opens to remote clients`,
    {
      field,
    },
  );

/**
 * The directory to tell the agent, or undefined when it is not inside a root. It keeps the name the client used where only the
 * root's own part of it holds links (the project stays the one the editor knows); a link further down is followed here and now,
 * so that it cannot be turned elsewhere between this look and the agent's.
 */
function place(path: string, roots: readonly Root[]): string | undefined {
  if (!isAbsolute(path) || path.split(sep).includes("..")) return undefined;
  const real = resolveDirectory(path);
  const root = real === undefined ? undefined : roots.find((each) => isInside(each.real, real));
  if (real === undefined || root === undefined) return undefined;
  const plain = normalize(path);
  return isInside(root.path, plain) && relative(root.path, plain) === relative(root.real, real) ? plain : real;
}

/** Named servers as the owner defined them. A client's own definition is a command line, or an address to send data to. */
function ownServers(rules: RemoteRules, servers: Json, ignored: string[]): Json[] {
  const kept = new Map<string, JsonObject>();
  for (const server of Array.isArray(servers) ? servers : []) {
    const name = isObject(server) ? stringAt(server, "name") : undefined;
    const known = rules.remoteMcpServers;
    const own = name !== undefined && Object.hasOwn(known, name) ? known[name] : undefined;
    if (name === undefined || !isObject(own)) ignored.push((name ?? "(unnamed)").slice(0, NAME_MAX));
    else kept.set(name, { ...own, name });
  }
  return [...kept.values()];
}

function knownMeta(rules: RemoteRules, meta: JsonObject, ignored: string[]): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(meta)) {
    if (key === HUB_META || key === "zcode" || rules.metaKeys.includes(key)) put(kept, key, value);
    else ignored.push(`_meta.${key}`.slice(0, NAME_MAX));
  }
  return kept;
}
