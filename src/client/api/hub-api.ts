/** The hub's HTTP routes (contract §3), typed. Every method fails with `ApiError` alone. */
import { EVENT_ID_HEADER, includesEvent } from "../../protocol/event-position.ts";
import type { OpenInteraction } from "../../protocol/hub-methods.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { ApiError, type HttpOptions, readJson, send, sendJson } from "./http.ts";
import { PushApi } from "./push-api.ts";
import {
  type Device,
  type FileEntry,
  type FileMatches,
  type HistoryPage,
  type Instance,
  listIn,
  type Pairing,
  readDevice,
  readFileEntry,
  readFileMatches,
  readHistory,
  readInstance,
  readInteractions,
  timeIn,
} from "./types.ts";

/** How `POST …/answer` ended. `pending`: the hub has it, the verdict is not in yet; asking again is safe. */
export type AnswerOutcome =
  | { readonly kind: "applied"; readonly by: JsonObject | undefined }
  | { readonly kind: "lost"; readonly by: JsonObject | undefined }
  | { readonly kind: "invalid"; readonly reason: string }
  | { readonly kind: "pending" };

export interface SessionQuery {
  readonly q?: string;
  readonly workspace?: string;
  readonly state?: string;
  readonly cursor?: string;
}

/** What runs and what waits, read together. */
export interface Overview {
  readonly instances: readonly Instance[];
  readonly interactions: readonly OpenInteraction[];
  /** The last event of the stream that is in both; undefined where the hub does not say. */
  readonly asOf: string | undefined;
}

const enc = encodeURIComponent;

export class HubApi {
  readonly http: HttpOptions;
  readonly push: PushApi;

  constructor(http: HttpOptions) {
    this.http = http;
    this.push = new PushApi(http);
  }

  /** Pairs this browser: the hub sets its cookie and gives the key that goes with it, once. */
  async pairBrowser(code: string, name: string): Promise<string> {
    const answer = await sendJson(this.http, "api/pair", { method: "POST", body: { code, name, mode: "cookie" } });
    const key = isObject(answer) ? stringAt(answer, "key") : undefined;
    if (key === undefined) throw new ApiError(502, { title: "The hub gave no key" });
    return key;
  }

  /** Pairs a program: gives the whole answer, tokens included. */
  async pair(code: string, name: string): Promise<JsonObject> {
    const answer = await sendJson(this.http, "api/pair", { method: "POST", body: { code, name } });
    return isObject(answer) ? answer : {};
  }

  /** A one-use ticket (30 s) for a socket or an event stream. */
  async ticket(signal?: AbortSignal): Promise<string> {
    const answer = await sendJson(this.http, "api/ws-ticket", { method: "POST", body: {}, ...(signal && { signal }) });
    const ticket = isObject(answer) ? stringAt(answer, "ticket") : undefined;
    if (ticket === undefined) throw new ApiError(502, { title: "The hub gave no ticket" });
    return ticket;
  }

  async logout(): Promise<void> {
    await send(this.http, "api/logout", { method: "POST", body: {} });
  }

  async devices(): Promise<readonly Device[]> {
    return listIn(await sendJson(this.http, "api/devices"), "devices").map(readDevice);
  }

  async renameDevice(id: string, name: string): Promise<void> {
    await send(this.http, `api/devices/${enc(id)}`, { method: "PATCH", body: { name } });
  }

  async revokeDevice(id: string): Promise<void> {
    await send(this.http, `api/devices/${enc(id)}`, { method: "DELETE" });
  }

  async createPairing(scope: string, name?: string): Promise<Pairing> {
    const body: JsonObject = { scope, ...(name !== undefined && { name }) };
    const answer = await sendJson(this.http, "api/pairings", { method: "POST", body });
    const object = isObject(answer) ? answer : {};
    return {
      code: stringAt(object, "code") ?? "",
      url: stringAt(object, "url") ?? "",
      expiresAt: timeIn(object, "expiresAt"),
    };
  }

  async instances(): Promise<readonly Instance[]> {
    return listIn(await sendJson(this.http, "api/instances"), "instances").map(readInstance);
  }

  async overview(): Promise<Overview> {
    const [instances, interactions] = await Promise.all([
      send(this.http, "api/instances"),
      send(this.http, "api/interactions"),
    ]);
    return {
      instances: listIn(await readJson(instances), "instances").map(readInstance),
      interactions: readInteractions(await readJson(interactions)),
      asOf: earlier(instances.headers.get(EVENT_ID_HEADER), interactions.headers.get(EVENT_ID_HEADER)),
    };
  }

  /** Starts a headless instance in an allowed workspace; gives its id. */
  async startInstance(workspacePath: string, agent?: string): Promise<string> {
    const body: JsonObject = { workspacePath, ...(agent !== undefined && { agent }) };
    const answer = await sendJson(this.http, "api/instances", { method: "POST", body });
    return isObject(answer) ? (stringAt(answer, "id") ?? "") : "";
  }

  async stopInstance(id: string): Promise<void> {
    await send(this.http, `api/instances/${enc(id)}`, { method: "DELETE" });
  }

  async closeSession(instanceId: string, sessionId: string): Promise<void> {
    const path = `api/instances/${enc(instanceId)}/sessions/${enc(sessionId)}/close`;
    await send(this.http, path, { method: "POST", body: {} });
  }

  async renameSession(instanceId: string, sessionId: string, title: string): Promise<void> {
    const path = `api/instances/${enc(instanceId)}/sessions/${enc(sessionId)}/rename`;
    await send(this.http, path, { method: "POST", body: { title } });
  }

  /** Workspaces known from history. */
  async projects(): Promise<readonly string[]> {
    const answer = await sendJson(this.http, "api/projects");
    const list: readonly Json[] = Array.isArray(answer) ? answer : listIn(answer, "projects", "workspaces");
    const paths = list.map((entry) =>
      isObject(entry) ? (stringAt(entry, "workspace") ?? stringAt(entry, "cwd") ?? stringAt(entry, "path")) : entry,
    );
    return paths.filter((path): path is string => typeof path === "string");
  }

  async sessions(query: SessionQuery = {}): Promise<HistoryPage> {
    const words = Object.entries(query).filter(
      (pair): pair is [string, string] => typeof pair[1] === "string" && pair[1] !== "",
    );
    return readHistory(await sendJson(this.http, `api/sessions?${new URLSearchParams(words).toString()}`));
  }

  exportSession(sessionId: string, format: "md" | "json"): Promise<Response> {
    return send(this.http, `api/sessions/${enc(sessionId)}/export?format=${format}`, { headers: { Accept: "*/*" } });
  }

  async answer(interactionId: string, answer: Json): Promise<AnswerOutcome> {
    try {
      const path = `api/interactions/${enc(interactionId)}/answer`;
      const value = await sendJson(this.http, path, { method: "POST", body: { answer } });
      return { kind: "applied", by: objectAt(isObject(value) ? value : undefined, "settledBy") };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 409) return { kind: "lost", by: objectAt(error.problem, "settledBy") };
      if (error.status === 422) return { kind: "invalid", reason: error.message };
      if (error.status === 503 && error.code === "verdict-pending") return { kind: "pending" };
      throw error;
    }
  }

  async listFiles(instanceId: string, sessionId: string, path: string): Promise<readonly FileEntry[]> {
    const query = new URLSearchParams({ sessionId, path }).toString();
    const answer = await sendJson(this.http, `api/instances/${enc(instanceId)}/fs/list?${query}`);
    return listIn(answer, "entries", "items").map(readFileEntry);
  }

  /** Files whose name or path holds these letters in order, best first. */
  async searchFiles(instanceId: string, sessionId: string, q: string, signal: AbortSignal): Promise<FileMatches> {
    const query = new URLSearchParams({ sessionId, q }).toString();
    const answer = await sendJson(this.http, `api/instances/${enc(instanceId)}/fs/search?${query}`, { signal });
    return readFileMatches(answer);
  }

  /** The first bytes of a file. */
  readBytes(
    instanceId: string,
    sessionId: string,
    path: string,
    length: number,
    signal: AbortSignal,
  ): Promise<Response> {
    const query = new URLSearchParams({ sessionId, path, length: String(length) }).toString();
    const headers = { Accept: "*/*" };
    return send(this.http, `api/instances/${enc(instanceId)}/fs/file?${query}`, { headers, signal });
  }

  /** A window of text (`line` counts from 1) or, without a window, the bytes. */
  readFile(
    instanceId: string,
    sessionId: string,
    path: string,
    window?: { line: number; limit: number },
  ): Promise<Response> {
    const query = new URLSearchParams({ sessionId, path });
    if (window !== undefined) {
      query.set("line", String(window.line));
      query.set("limit", String(window.limit));
    }
    return send(this.http, `api/instances/${enc(instanceId)}/fs/file?${query.toString()}`, {
      headers: { Accept: "*/*" },
    });
  }

  /** The hub's clock and reach, for diagnostics: how long `api/health` took and what its Date header said. */
  async health(now: () => number): Promise<{ readonly tookMs: number; readonly hubTime: number | undefined }> {
    const startedAt = now();
    const response = await send(this.http, "api/health", { headers: { Accept: "text/plain" } });
    await response.text();
    const date = Date.parse(response.headers.get("date") ?? "");
    return { tookMs: now() - startedAt, hubTime: Number.isNaN(date) ? undefined : date };
  }
}

/** Of two places in the event stream the one that came first; undefined when they cannot be compared. */
function earlier(a: string | null, b: string | null): string | undefined {
  if (a === null || b === null) return undefined;
  if (includesEvent(a, b)) return b;
  return includesEvent(b, a) ? a : undefined;
}
