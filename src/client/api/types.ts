/** What the HTTP routes answer (contract §3), read tolerantly: fields are additive, so unknown ones are left alone. */
import type { OpenInteraction, TurnState } from "../../protocol/hub-methods.ts";
import { arrayAt, isObject, type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";

/** The last line of a session: one line of plain text. */
export interface LastLine {
  /** `tool`: the title of one. */
  readonly from: "agent" | "user" | "tool";
  readonly text: string;
}

export interface InstanceSession {
  readonly sessionId: string;
  readonly title: string | undefined;
  readonly cwd: string | undefined;
  /** Of the repository it works in, where it is in one. */
  readonly branch: string | undefined;
  readonly status: TurnState;
  /** Since when, epoch milliseconds; undefined when unknown. */
  readonly turnSince: number | undefined;
  readonly last: LastLine | undefined;
  /** It goes on at another instance; `supersededBy` is that one's id, where the hub says. */
  readonly isSuperseded: boolean;
  readonly supersededBy: string | undefined;
  /** Epoch milliseconds; 0 when unknown. */
  readonly updatedAt: number;
  readonly openInteractions: number;
}

export interface Instance {
  readonly id: string;
  readonly name: string;
  readonly workspace: string;
  readonly origin: "editor" | "headless";
  /** What the editor calls itself. */
  readonly editor: string | undefined;
  readonly startedAt: number;
  readonly agent: JsonObject;
  /** How many clients are connected. */
  readonly clients: number;
  /** Set when the bridge does not answer: `unreachable`, `unresponsive`. */
  readonly health: string | undefined;
  readonly sessions: readonly InstanceSession[];
}

export interface HistorySession {
  readonly sessionId: string;
  readonly instanceId: string | undefined;
  readonly title: string | undefined;
  readonly workspace: string | undefined;
  readonly agent: string | undefined;
  readonly state: string | undefined;
  readonly updatedAt: number;
  readonly last: LastLine | undefined;
  /** Where the search words were found. */
  readonly snippet: string | undefined;
}

export interface HistoryPage {
  readonly sessions: readonly HistorySession[];
  readonly cursor: string | undefined;
}

export interface Device {
  readonly id: string;
  readonly name: string;
  readonly kind: string | undefined;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly address: string | undefined;
  readonly isSelf: boolean;
  /** Open sockets, where the hub says. */
  readonly connections: number | undefined;
}

export interface Pairing {
  readonly code: string;
  readonly url: string;
  readonly expiresAt: number;
}

export interface FileEntry {
  readonly name: string;
  readonly path: string;
  readonly isDirectory: boolean;
  readonly size: number | undefined;
}

/** What a search among the files of a session found. */
export interface FileMatches {
  readonly files: readonly { readonly path: string; readonly name: string; readonly uri: string }[];
  /** Not all of the workspace was looked at. */
  readonly isTruncated: boolean;
}

const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** A list answered bare or under one of `keys`. */
export function listIn(value: Json | undefined, ...keys: readonly string[]): readonly JsonObject[] {
  if (Array.isArray(value)) return objects(value);
  if (!isObject(value)) return [];
  for (const key of keys) if (Array.isArray(value[key])) return objects(value[key]);
  return [];
}

/** Epoch milliseconds from a number or an ISO text; 0 when absent. */
export function timeIn(object: JsonObject, ...keys: readonly string[]): number {
  for (const key of keys) {
    const value = object[key];
    if (typeof value === "number") return value;
    if (typeof value === "string" && !Number.isNaN(Date.parse(value))) return Date.parse(value);
  }
  return 0;
}

export function readInstance(entry: JsonObject): Instance {
  const agent = objectAt(entry, "agent") ?? {};
  const clients = entry["clients"];
  return {
    id: stringAt(entry, "id") ?? "",
    name: stringAt(entry, "name") ?? stringAt(agent, "title") ?? stringAt(agent, "name") ?? "agent",
    workspace: stringAt(entry, "workspace") ?? "",
    origin: entry["origin"] === "headless" ? "headless" : "editor",
    editor: stringAt(entry, "editor"),
    startedAt: timeIn(entry, "startedAt"),
    agent,
    clients: typeof clients === "number" ? clients : Array.isArray(clients) ? clients.length : 0,
    health: stringAt(entry, "health") ?? stringAt(entry, "state"),
    sessions: (arrayAt(entry, "sessions") ?? []).filter(isObject).map(readSession),
  };
}

function readSession(entry: JsonObject): InstanceSession {
  const status = entry["status"];
  return {
    sessionId: stringAt(entry, "sessionId") ?? "",
    title: stringAt(entry, "title"),
    cwd: stringAt(entry, "cwd"),
    branch: stringAt(entry, "branch"),
    status: status === "running" || status === "waiting" ? status : "idle",
    turnSince: numberAt(entry, "turnSince"),
    last: readLast(entry),
    isSuperseded: entry["superseded"] === true,
    supersededBy: stringAt(entry, "supersededBy"),
    updatedAt: timeIn(entry, "updatedAt"),
    openInteractions: numberAt(entry, "openInteractions") ?? 0,
  };
}

function readLast(entry: JsonObject): LastLine | undefined {
  const [from, text] = [stringAt(entry, "lastFrom"), stringAt(entry, "lastText")];
  if (text === undefined || text === "") return undefined;
  return { from: from === "user" || from === "tool" ? from : "agent", text };
}

export function readHistory(value: Json | undefined): HistoryPage {
  const sessions = listIn(value, "sessions", "items").map((entry) => ({
    sessionId: stringAt(entry, "sessionId") ?? "",
    instanceId: stringAt(entry, "instanceId") ?? stringAt(entry, "instance"),
    title: stringAt(entry, "title"),
    workspace: stringAt(entry, "workspace") ?? stringAt(entry, "cwd"),
    agent: stringAt(entry, "agent") ?? stringAt(objectAt(entry, "agent"), "name"),
    state: stringAt(entry, "state") ?? stringAt(entry, "status"),
    updatedAt: timeIn(entry, "updatedAt"),
    last: readLast(entry),
    snippet: stringAt(objectAt(entry, "snippet"), "text") ?? stringAt(entry, "snippet"),
  }));
  return {
    sessions,
    cursor: isObject(value) ? (stringAt(value, "cursor") ?? stringAt(value, "nextCursor")) : undefined,
  };
}

export function readInteractions(value: Json | undefined): readonly OpenInteraction[] {
  return listIn(value, "interactions").flatMap((entry) => {
    const interactionId = stringAt(entry, "interactionId") ?? stringAt(entry, "id");
    if (interactionId === undefined) return [];
    const sessionId = stringAt(entry, "sessionId");
    const base = {
      interactionId,
      instanceId: stringAt(entry, "instanceId") ?? stringAt(entry, "instance") ?? "",
      method: stringAt(entry, "method") ?? "session/request_permission",
      params: entry["params"] ?? {},
      openedAt: timeIn(entry, "openedAt"),
    };
    return [sessionId === undefined ? base : { ...base, sessionId }];
  });
}

export function readDevice(entry: JsonObject): Device {
  const scopes = entry["scopes"] ?? entry["scope"];
  return {
    id: stringAt(entry, "id") ?? stringAt(entry, "deviceId") ?? "",
    name: stringAt(entry, "name") ?? "unnamed",
    kind: stringAt(entry, "kind"),
    scopes: Array.isArray(scopes) ? scopes.filter((scope): scope is string => typeof scope === "string") : [],
    createdAt: timeIn(entry, "createdAt"),
    lastSeenAt: timeIn(entry, "lastSeenAt", "lastSeen"),
    address: stringAt(entry, "lastAddress") ?? stringAt(entry, "address"),
    isSelf: entry["isThis"] === true,
    connections: numberAt(entry, "connections"),
  };
}

export function readFileEntry(entry: JsonObject): FileEntry {
  const name = stringAt(entry, "name") ?? "";
  const kind = stringAt(entry, "type") ?? stringAt(entry, "kind");
  return {
    name,
    path: stringAt(entry, "path") ?? name,
    isDirectory: kind === "directory" || kind === "dir" || entry["isDirectory"] === true,
    size: numberAt(entry, "size"),
  };
}

export function readFileMatches(value: Json | undefined): FileMatches {
  const files = listIn(value, "entries").flatMap((entry) => {
    const [path, uri] = [stringAt(entry, "path"), stringAt(entry, "uri")];
    return path === undefined || uri === undefined ? [] : [{ path, uri, name: stringAt(entry, "name") ?? path }];
  });
  return { files, isTruncated: isObject(value) && value["truncated"] === true };
}
